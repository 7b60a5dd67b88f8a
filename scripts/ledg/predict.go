package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/visit"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newPredictCommand returns the command that predicts the classes of images.
func newPredictCommand() *cobra.Command {
	var o ceg.Options
	var f predict.FilesOptions
	var box boxFlags
	var capture captureFlags
	var exports []string
	var named namedPrediction
	quiet, verbose, yes := false, false, false
	var coverage, abstain float64
	cmd := &cobra.Command{
		Use:         "predict [RUN] --images {DIR | FILE}... --out FILE",
		SuggestFor:  []string{"infer", "classify", "inference"},
		Annotations: map[string]string{guide: "photos.md"},
		Short:       "Predict the classes of images with a trained run",
		Long: `Predict the classes of images: one row per image, in the order of their paths, with

  class, probability   the most probable class
  second, margin       the second class, and the difference in probability
  entropy              of the class probabilities, in nats
  distance, nearest    cosine distance to the nearest labelled image, relative to the
                       median among labelled images
  looks_new            true if it looks like nothing labelled: it is farther from the nearest
                       labelled image than 95% of the run's images are (expect 4 to 8% false
                       alarms, on a new site up to half), or near photos of none of the classes, blank images or noise.
                       Its class and probability then say little. Most images of an unknown
                       class are not flagged. Empty if the run has fewer than 20 photos
  calibrated           false if too few labels were there to calibrate the probabilities,
                       which are then mostly too high

Features of images that the run or the cache has are reused. Folders are searched at any
depth. Unreadable files are listed in FILE.failed.csv. After an
interruption, the same command continues.

RUN can be the folder of a site (ledg site), whose adapted network is then used. --sets 0.9
adds prediction sets that contain the true class for 90% of the images. --sets and --abstain
need a site with an audit.

Without a run, names alone predict, before anything is trained. ` + namesHelp + `
distance, nearest and looks_new are empty then, as nothing was labelled.`,
		Example: `  ledg predict runs/mine --images photos --out predictions.csv
  ledg predict runs/mine --images a.jpg b.png --out predictions.jsonl
  ledg predict runs/mine --images photos --out p.parquet
  ledg predict --net hf:OWNER/NAME --names auto --classes cat,dog --images photos --out p.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if named.names == "" {
				if len(args) == 0 {
					return usagef("requires at least 1 arg(s), only received 0: the folder of a run, or --net, --names and --classes without one")
				}
				if named.net != "" || named.classes != "" || slices.ContainsFunc(importNames, cmd.Flags().Changed) {
					return usagef("--net, --classes and preprocessing are for predictions by names alone: give --names auto and no run, or leave them out")
				}
				o.Dir, args = args[0], args[1:]
			}
			f.Images = append(f.Images, args...) // as a shell gives them for --images *.jpg
			if err := f.Check(); err != nil {
				return usagef("--out: %w", err)
			}
			var err error
			if f.Boxes, err = box.boxes(); err != nil {
				return err
			}
			if f.Capture, err = capture.capture(); err != nil {
				return err
			}
			f.Units = len(exports) > 0
			if err := checkExports(exports, f); err != nil {
				return err
			}
			times, err := capturedOf(cmd, &f)
			if err != nil {
				return err
			}
			var p *predict.Predictor
			if named.names != "" {
				if coverage > 0 || abstain > 0 {
					return usagef("--sets and --abstain need labels: names alone have none")
				}
				p, err = named.open(cmd, o.Backend, yes, f.Boxes != nil)
				err = cli.BackendError(err)
			} else {
				p, err = predict.OpenWith(o)
			}
			if err != nil {
				return err
			}
			defer p.Close()
			p.Known = photos.Cached("")
			slower := ""
			if s := p.Model.Scaler; s != nil && s.Origin != nil && s.Origin.ONNX != nil {
				if slower, err = offerRuntime(cmd, o.Backend, yes); err != nil {
					return err
				}
			}
			if coverage > 0 {
				if p.Sets, err = visit.Sets(o.Dir, p, coverage); err != nil {
					return fmt.Errorf("--sets %v: %w", coverage, err)
				}
			}
			if named.names == "" {
				if err := visit.Familiarise(cmd.Context(), o.Dir, p); err != nil {
					return fmt.Errorf("looks_new: %w", err)
				}
			}
			if abstain > 0 {
				if p.Abstain, err = visit.Abstain(o.Dir, p, abstain); err != nil {
					return fmt.Errorf("--abstain %v: %w", abstain, err)
				}
			}
			stderr := cmd.ErrOrStderr()
			if !quiet {
				fmt.Fprintln(stderr, computes(p.Backend(), verbose))
				if slower != "" {
					fmt.Fprintln(stderr, slower)
				}
				if p.Adapted {
					fmt.Fprintf(stderr, "network adapted to %s\n", o.Dir)
				}
				if p.Audited {
					fmt.Fprintf(stderr, "probabilities at temperature %.3f, fitted on the audit of %s\n", p.Temperature, o.Dir)
				} else if p.Adapted {
					fmt.Fprintf(stderr, "probabilities are not calibrated, and mostly too high: an audit of %d images calibrates them\n", site.LeastCalibrated)
				} else if named.names != "" {
					fmt.Fprintln(stderr, "probabilities of names are not calibrated, and mostly too high")
				} else if p.Calibrated {
					fmt.Fprintf(stderr, "probabilities at temperature %.3f, fitted on source images: optimistic on a new domain\n", p.Temperature)
				} else {
					fmt.Fprintf(stderr, "probabilities are not calibrated, and mostly too high: %s calibrates them, with 50 labels\n", shell.Line("ledg", "calibrate", o.Dir))
				}
				if p.Sets != nil {
					fmt.Fprintln(stderr, p.Sets)
				}
				if p.Abstain != nil {
					fmt.Fprintf(stderr, "abstained below %.3f; accuracy of the others in the audit: %v\n", p.Abstain.Threshold, p.Abstain.Accuracy)
				}
				f.Progress = countProgress(stderr, "images")
			}
			start := time.Now()
			s, err := p.Files(cmd.Context(), f)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			seconds := time.Since(start).Seconds()
			now := s.Predicted - s.Resumed
			fmt.Fprintf(out, "%s: %s images", f.Out, humanize.Comma(int64(s.Predicted)))
			if s.Resumed > 0 {
				fmt.Fprintf(out, ", %s of them before", humanize.Comma(int64(s.Resumed)))
			}
			fmt.Fprintf(out, ", %.1f images/s\n", float64(now)/seconds)
			tellUnits(out, s)
			if err := export(cmd, exports, f, s, times, "ledg "+filepath.Base(filepath.Clean(cmp.Or(o.Dir, named.net)))); err != nil {
				return err
			}
			if s.Reused > 0 {
				fmt.Fprintln(out, embedding.SayReused(s.Reused, now))
			}
			if line := datasets.SayPictures(s.Pictures); line != "" {
				fmt.Fprintln(out, line)
			}
			if s.Changed {
				fmt.Fprintf(out, "the files have changed since the interrupted call: new files that sort before its finished rows are not in the table\n")
			}
			if p.Novelty != nil {
				beside := ""
				if n := p.Strangers(); n > 0 {
					beside = fmt.Sprintf("; images like the %s of none of the classes are among them", count(n, "photo"))
				}
				expect := "4 to 8% of new images of the run's sites and classes, more of a new site"
				if p.Familiar != nil {
					beside, expect = "", fmt.Sprintf("%.0f%% false alarms, by the site's own threshold", 100*audit.FalseAlarms)
				}
				fmt.Fprintf(out, "%s of them look like nothing labelled (column looks_new); expect %s%s\n", humanize.Comma(int64(s.New)), expect, beside)
			}
			if named.names != "" {
				fmt.Fprintln(out, sayNames(p))
			} else if p.Novelty == nil {
				fmt.Fprintf(out, "no looks_new: it needs %d photos of the run's sites to compare with\n", audit.FewestForNovelty)
			}
			printFailed(out, s)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Images, "images", nil, "folder or image file; repeatable (required)")
	box.add(flags)
	flags.StringArrayVar(&exports, "export", nil, "FORMAT=FILE of megadetector, timelapse, camtrap, wildlifeinsights; repeatable")
	capture.add(flags)
	flags.StringVar(&f.Out, "out", "", "table to write: .csv, .parquet or .jsonl (required)")
	flags.Float64Var(&coverage, "sets", 0, "add prediction sets that contain the true class this often (sites only)")
	flags.Float64Var(&abstain, "abstain", 0, "abstain on this fraction of the least confident images (sites only)")
	bound(flags, "(0, 1)", "sets", "abstain")
	flags.StringVar(&o.Backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	runImagesFlags(cmd, &o)
	named.add(flags)
	flags.BoolVar(&yes, "yes", false, "ONNX: install ONNX Runtime without asking")
	flags.BoolVar(&quiet, "quiet", false, "print no progress on stderr")
	flags.BoolVar(&verbose, "verbose", false, "also print why this backend was chosen")
	cmd.MarkFlagRequired("images")
	cmd.MarkFlagRequired("out")
	return cmd
}

// printFailed prints the files that could not be read.
func printFailed(out io.Writer, s predict.Summary) {
	if s.Failed == 0 {
		return
	}
	fmt.Fprintf(out, "%s: %s files could not be read\n", s.FailedFile, humanize.Comma(int64(s.Failed)))
	for _, line := range s.First {
		fmt.Fprintf(out, "  %s\n", cli.OneLine(fmt.Errorf("%s", line)))
	}
	if more := s.Failed - len(s.First); more > 0 {
		fmt.Fprintf(out, "  and %s more\n", humanize.Comma(int64(more)))
	}
}

// computes describes a backend, and why it was chosen only if verbose.
func computes(description string, verbose bool) string {
	if !verbose {
		description, _, _ = strings.Cut(description, ", chosen because")
	}
	return description
}
