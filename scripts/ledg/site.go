package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/visit"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newSiteCommand returns the command that takes a run to a site that it has not seen.
func newSiteCommand() *cobra.Command {
	o := visit.Options{}
	var asJSON, wait, quiet, unadapted bool
	var group, by string
	var box boxFlags
	var capture captureFlags
	cmd := &cobra.Command{
		Use:         "site {RUN --images DIR | --out SITE}",
		Annotations: map[string]string{guide: "new-site.md", flagGroups: siteGroups},
		Short:       "Estimate, audit and adapt accuracy on a new site",
		Long: `Apply a run to images of a new site (a domain in research). The folder of the site gets
predictions, a label-free accuracy estimate, the most similar site of the run, and images
that look new. Label-free estimates are rough: on PACS they erred by 11 pp on average
and by 34 pp at worst.

With --ask, label images on the page of ledg label SITE: an adaptation set (5 per class) and
a random audit set (50), in one shuffled order. The same command then adapts the class head
and reports accuracy before and after, with 95% intervals. The audit set never trains.
--until 5 queries ten more images at a time until the interval is +-5 points.

Adaptation can reduce accuracy where the run is right already: the report shows the gain,
and --unadapted returns to the run's own head.
Run the command again on new images of the site to add them and to detect drops in
accuracy. --by month reports each camera (a folder) and month, with advice.
ledg predict and ledg export accept the folder of a site in place of a run.`,
		Example: `  ledg site runs/mine --images north
  ledg site runs/mine --images north --ask
  ledg label sites/north
  ledg site --out sites/north
  ledg site --out sites/north --ask --until 5
  ledg site runs/mine --images south --group '^([^/]+)/' --ask
  ledg site --out sites/north --by month
  ledg predict sites/north --images more --sets 0.9 --out predictions.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Run.Dir = args[0]
				if site.Is(args[0]) {
					return usagef("%s is a site: give it as --out", args[0])
				}
			}
			flags := cmd.Flags()
			switch {
			case o.Dir == "" && (len(args) == 0 || o.Images == ""):
				return usagef("give a run and --images, or the folder of a site as --out")
			case o.Dir == "":
				abs, err := filepath.Abs(o.Images)
				if err != nil {
					return err
				}
				o.Dir = filepath.Join("sites", filepath.Base(abs))
			}
			for _, name := range []string{"adapt", "audit", "until"} {
				o.Query = o.Query || flags.Changed(name)
			}
			o.Until /= 100
			var err error
			if o.Boxes, err = box.boxes(); err != nil {
				return err
			}
			if flags.Changed("events") || flags.Changed("times") {
				c, err := capture.capture()
				if err != nil {
					return err
				}
				if o.Capture = &c; flags.Changed("group") {
					return usagef("--events %v: --group makes other groups; give one of them", c.Gap)
				}
			}
			if o.ByMonth = by == "month"; by != "" && !o.ByMonth {
				return usagef("--by %s: want month", by)
			}
			if flags.Changed("group") {
				if _, err := datasets.ParseGroup(group); err != nil {
					return usagef("--group: %v", err)
				}
				o.Group = &group
			}
			if flags.Changed("unadapted") {
				o.Unadapted = &unadapted
			}
			stderr := cmd.ErrOrStderr()
			if !quiet {
				o.Say = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
				o.Progress = countProgress(stderr, "images")
			}
			known := visitsOf(o.Dir)
			for {
				a, err := visit.Arrive(cmd.Context(), o)
				if err != nil {
					return err
				}
				if len(a.Report.Visits) > known && known > 0 {
					endOldPage(cmd, o.Dir)
				}
				known = len(a.Report.Visits)
				if a.Open > 0 && wait {
					o.Images, o.Run.Dir = "", ""
					if err := awaitLabels(cmd, o.Dir); err != nil {
						return err
					}
					continue
				}
				return tellSite(cmd.OutOrStdout(), a, o.Dir, asJSON)
			}
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Images, "images", "", "folder of the site's images (default the last one)")
	flags.StringVar(&o.Dir, "out", "", "folder of the site (default sites/NAME, after --images)")
	flags.StringVar(&group, "group", "", "groups of images: a regular expression over paths (default the run's)")
	flags.BoolVar(&o.Query, "ask", false, "query labels, to adapt and to measure accuracy")
	flags.IntVar(&o.Adapt, "adapt", -1, "with --ask, images in the adaptation set (default 5 per class)")
	flags.IntVar(&o.Audit, "audit", -1, "with --ask, images in the audit set (default 50)")
	flags.Float64Var(&o.Until, "until", 0, "with --ask, query until the interval is this many points")
	bound(flags, "[0, 1000000000]", "adapt", "audit")
	bound(flags, "[1, 50)", "until")
	flags.BoolVar(&unadapted, "unadapted", false, "predict with the run's own head (--unadapted=false: adapted again)")
	flags.StringSliceVar(&o.New, "new-class", nil, "class that the run does not know; repeatable")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of a new site's audit set")
	flags.BoolVar(&o.FollowLinks, "follow-links", false, "use images behind links that lead out of --images")
	box.add(flags)
	capture.add(flags)
	flags.StringVar(&by, "by", "", "month: also report each camera and month, with advice")
	flags.BoolVar(&wait, "wait", false, "wait for the labels, then continue")
	flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
	flags.BoolVar(&quiet, "quiet", false, "print no progress on stderr")
	flags.StringVar(&o.Run.Backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	runImagesFlags(cmd, &o.Run)
	for _, name := range []string{"adapt", "audit"} { // -1 is no default to show
		flags.Lookup(name).DefValue = "0"
	}
	cmd.AddCommand(newSiteTableCommand())
	return cmd
}

// tellSite prints the report of a site, and what to do next.
func tellSite(out io.Writer, a *visit.Arrived, dir string, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(cli.Raw(out))
		return e.Encode(a.Report)
	}
	fmt.Fprint(out, a.Report)
	fmt.Fprintf(out, "\n%s is this report as a page, %s has the predictions\n", filepath.Join(dir, site.PageFile), filepath.Join(dir, site.PredictionsFile))
	switch {
	case a.Open > 0:
		fmt.Fprintf(out, "%d labels are queried: give them with %s, then run %s\n", a.Open, shell.Line("ledg", "label", dir), shell.Line("ledg", "site", "--out", dir))
	case a.Report.Visits[len(a.Report.Visits)-1].Audit == 0:
		words := []string{"ledg", "site", "--out", dir, "--ask"}
		if k := len(a.Report.Visits) - 1; k > 0 { // adapted already, perhaps
			words = append(words, "--adapt", "0", "--audit", strconv.Itoa(min(50, a.Report.Visits[k].Images)))
		}
		fmt.Fprintf(out, "to measure accuracy: %s\n", shell.Line(words...))
	}
	return nil
}

// visitsOf is how often a site was visited.
func visitsOf(dir string) int {
	r, err := site.Read(dir)
	if err != nil {
		return 0
	}
	return len(r.Visits)
}

// endOldPage ends the labelling page of a site that serves the images of an earlier visit.
func endOldPage(cmd *cobra.Command, dir string) {
	ledger := filepath.Join(dir, labels.File)
	if running, ok := page.Serving(ledger); ok && page.Stop(cmd.Context(), ledger) == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "the labelling page of process %d did not know the new images and was stopped; %s starts it again\n", running.Process, shell.Line("ledg", "label", dir))
	}
}

// awaitLabels waits until no question of a site is open.
func awaitLabels(cmd *cobra.Command, dir string) error {
	ledger, err := labels.Open(dir, nil, labels.Options{})
	if err != nil {
		return err
	}
	defer ledger.Close()
	fmt.Fprintf(cmd.ErrOrStderr(), "waiting for labels: %s\n", shell.Line("ledg", "label", dir))
	for {
		var last int64
		open := 0
		ledger.View(func(s *labels.State) {
			last = s.Last()
			for im := range s.Images() {
				if im.Status == labels.IsOpen || im.Status == labels.IsDisputed {
					open++
				}
			}
		})
		if open == 0 {
			return nil
		}
		if _, err := ledger.Wait(cmd.Context(), last); err != nil {
			return err
		}
	}
}

// newSiteTableCommand returns the command that compares sites.
func newSiteTableCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "table SITE...",
		Short:   "Compare sites, with one row per visit",
		Example: `  ledg site table sites/north sites/south`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(out, "site\tdate\timages\testimate\tbefore\tafter\tgain\taudited")
			for _, dir := range args {
				r, err := site.ReadReport(dir)
				if errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("%s has no %s: %s writes it", dir, site.ReportFile, shell.Line("ledg", "site", "--out", dir))
				}
				if err != nil {
					return err
				}
				for _, v := range r.Visits {
					row := []string{r.Site, v.At.Format(time.DateOnly), fmt.Sprint(v.Images), "", "", "", "", fmt.Sprint(v.Audited)}
					if v.Estimate != nil && v.Estimate.Accuracy != nil {
						row[3] = fmt.Sprintf("%.0f%%", 100**v.Estimate.Accuracy)
					}
					if v.Before != nil {
						row[4] = v.Before.String()
					}
					if v.After != nil {
						row[5], row[6] = v.After.String(), fmt.Sprintf("%+.0f, %+.0f to %+.0f", 100*v.Gain.Share, 100*v.Gain.Low, 100*v.Gain.High)
					}
					fmt.Fprintln(out, strings.Join(row, "\t"))
				}
			}
			return out.Flush()
		},
	}
}
