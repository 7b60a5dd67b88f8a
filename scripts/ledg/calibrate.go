package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newCalibrateCommand() *cobra.Command {
	var o ceg.Options
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "calibrate RUN",
		Short: "Calibrate the probabilities of a run on its source domains",
		Long: `Fit a temperature for the logits on the source domains' validation images. It is saved in
RUN/calibration.json, and ledg predict and ledg export apply it. ledg train and ledg extend
do this at their end; runs of studies and older runs are calibrated by this command. The table shows the
expected calibration error (15 bins) on the source domains and on the target domain.

With fewer than 50 labelled validation images, ledg uses the cross-validation of the accuracy
estimate, if the run has 50 labels: each label is predicted by a network trained without it.

A second temperature, by networks trained without the label's domain, is reported beside it.

Validation images resemble the training images, so calibration is optimistic on new domains.`,
		Example: `  ledg calibrate runs/mine
  ledg figure reliability --run runs/mine --out reliability.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = args[0]
			p, err := predict.OpenUncalibrated(o)
			if err != nil {
				return err
			}
			defer p.Close()
			c, err := p.Calibrate(cmd.Context())
			if err != nil {
				return err
			}
			return calibrationTable(o.Dir, c).Write(tableOutput(cmd, result.TableFormat(format)), result.TableFormat(format))
		},
	}
	cmd.Flags().Var(&format, "format", "table format: text, markdown, html, csv or latex")
	cmd.Flags().StringVar(&o.Backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	runImagesFlags(cmd, &o)
	return cmd
}

// calibrateRun calibrates a finished run that is not calibrated yet, so that every command predicts
// the same probabilities from now on, and returns a line about it.
func calibrateRun(ctx context.Context, o ceg.Options) string {
	o = ceg.Options{Dir: o.Dir, Backend: o.Backend, CacheDir: o.CacheDir} // by what the run has kept
	c, err := calibration.Read(o.Dir)
	if err != nil || predict.CheckCalibration(o) != nil {
		var p *predict.Predictor
		if p, err = predict.OpenUncalibrated(o); err == nil {
			c, err = p.Calibrate(ctx)
			p.Close()
		}
	}
	var few *predict.TooFewError
	switch {
	case errors.As(err, &few):
		return fmt.Sprintf("probabilities are not calibrated, and mostly too high: there are %d validation images and %d cross-validated labels, and a temperature needs %d of either", few.Validation, few.Crossed, predict.LeastCalibrated)
	case err != nil:
		return "probabilities are not calibrated: " + cli.OneLine(err)
	}
	return fmt.Sprintf("probabilities are calibrated: temperature %.3f, fitted on %d %s; optimistic on a new site", c.Source.Temperature, c.Source.Images, c.Images())
}

func calibrationTable(dir string, c *calibration.Calibration) *result.Table {
	t := &result.Table{Title: dir, Columns: []result.Column{
		{Name: "temperature fitted on"}, {Name: "T", Right: true}, {Name: "measured on"}, {Name: "images", Right: true},
		{Name: "accuracy %", Right: true}, {Name: "confidence %", Right: true}, {Name: "ECE %", Right: true}, {Name: "NLL", Right: true},
	}}
	row := func(fitted string, temperature float64, on string, r calibration.Reliability) {
		if r.Images == 0 {
			return
		}
		t.AddRow(fitted, fmt.Sprintf("%.3f", temperature), on, fmt.Sprint(r.Images),
			fmt.Sprintf("%.2f", 100*r.Accuracy), fmt.Sprintf("%.2f", 100*r.Confidence), fmt.Sprintf("%.2f", 100*r.ECE), fmt.Sprintf("%.3f", r.NLL))
	}
	s, on := c.Source, c.On()
	row("nothing", 1, on, s.Source.Before)
	row("nothing", 1, "target", s.Target.Before)
	row(on, s.Temperature, on, s.Source.After)
	row(on, s.Temperature, "target", s.Target.After)
	if l := c.LeftOut; l != nil {
		row("left-out sources", l.Temperature, on, l.Source.After)
		row("left-out sources", l.Temperature, "target", l.Target.After)
	}
	if c.CrossValidated {
		t.Notes = append(t.Notes, "There are too few validation images. Each label is predicted by a network that was trained without it.")
	}
	if c.HasTarget() {
		t.Notes = append(t.Notes, fmt.Sprintf("Fitted on the target's own labels, the temperature would be %.3f: an oracle bound, not a result.", c.Best))
	} else {
		t.Notes = append(t.Notes, "No labels of a target domain: calibration cannot be measured there.")
	}
	t.Notes = append(t.Notes, "A temperature from the source domains is optimistic: on a new domain expect a larger error.")
	return t
}
