package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// setRule writes the rule of --disagreement into the ledger. Before the first blind label, where
// no rule was chosen, images on which annotators differ are to be queried again.
func (f *labelFlags) setRule() error {
	if f.rule == "" && !f.blind {
		return nil
	}
	rule, err := labels.ParseRule(cmp.Or(f.rule, labels.Unanimous.String()))
	if err != nil {
		return err
	}
	l, err := labels.Open(f.ledger, nil, labels.Options{})
	if err != nil {
		return err
	}
	chosen := false
	l.View(func(st *labels.State) {
		for n := st.Last(); n > 0; n-- {
			e, _ := st.Event(n)
			chosen = chosen || e.Kind == labels.Ruled
		}
	})
	if f.rule != "" || !chosen {
		err = l.SetRule(rule, f.by[0], "ledg label")
	}
	return errors.Join(err, l.Close())
}

// options opens the data, labels and predictions that the flags name.
func (f *labelFlags) options() (o page.Options, err error) {
	o = page.Options{Unaided: f.unaided, By: f.by, Tool: "ledg label " + cli.Versions()[0].Version, FollowLinks: f.data.followLinks}
	if f.dir != "" {
		err = f.ofRun(&o)
	} else {
		err = f.ofFolder(&o)
	}
	if err != nil {
		return o, err
	}
	if f.blind {
		o.Blind, o.Rest, o.Known = true, false, nil
		o.Title += ", without the labels of others"
		o.Next = shell.Line("ledg", "label", "agreement", f.ledger)
		o.Empty = "Nobody else has labelled an image yet. New labels appear here automatically."
	}
	if f.predictions != "" {
		if o.Predictions, err = readPredictions(f.predictions, o.Root, o.Data); err != nil {
			return o, fmt.Errorf("--predictions %s: %w", f.predictions, err)
		}
	}
	o.Ledger, err = page.OpenLedger(f.ledger, o.Data, o.Classes, labels.Newest)
	return o, err
}

// ofRun sets the options for the queries of a run.
func (f *labelFlags) ofRun(o *page.Options) error {
	if _, err := os.Stat(filepath.Join(f.ledger, labels.File)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the run has no %s: it does not query people (--oracle ask)", f.dir, labels.File)
	}
	c, d, truth, err := run.OpenData(ceg.Options{Dir: f.dir, Root: f.data.root, SplitsDir: f.data.splits})
	if err != nil {
		return err
	}
	at, err := result.Locate(f.dir, c.Data.Dataset, result.Place{Root: f.data.root})
	if err != nil {
		return err
	}
	if info, _ := datasets.Lookup(d.Name); info.Yours { // groups keep their known labels
		o.Known = truth.Knows
	}
	root, err := d.Folder(at.Root)
	if err != nil {
		return err
	}
	o.Title, o.Data, o.Root, o.Classes = filepath.Base(filepath.Clean(f.dir)), d, root, d.Classes
	if site.Is(f.dir) { // without predictions: they would bias the annotators
		o.Next = shell.Line("ledg", "site", "--out", f.dir)
		o.Empty = "No labels of this site are queried yet. New queries appear here automatically."
		return nil
	}
	set, err := run.ReliableSet(ceg.Options{Dir: f.dir}, d)
	if err != nil {
		return err
	}
	o.Predictions = make(map[string]page.Prediction, len(set))
	for id, class := range set {
		o.Predictions[id] = page.Prediction{Class: class}
	}
	o.Next = shell.Line("ledg", "train", "--resume", "--out", f.dir)
	o.Run, o.Again = runState(f.dir, o.Next), shell.Line("ledg", "label", f.dir)
	o.Empty = "The run has not queried a label yet. New queries appear here automatically."
	return nil
}

// runState returns a function for page.Options.Run about the run in a folder; resume is the
// command that continues it.
func runState(dir, resume string) func(last int64) page.Run {
	var mu sync.Mutex
	var known page.Run // at event number at
	at := int64(-1)
	return func(last int64) page.Run {
		mu.Lock()
		defer mu.Unlock()
		if !result.Finished(os.DirFS(dir)) {
			return page.Run{Next: resume}
		}
		if at != last {
			known, at = finishedRun(dir), last
		}
		return known
	}
}

// predictLine is the command that predicts images with a finished run.
func predictLine(dir string) string {
	return shell.Line("ledg", "predict", dir, "--images", "FOLDER", "--out", "predictions.csv")
}

// finishedRun describes a finished run. What cannot be read is left out: commands about the run
// report it.
func finishedRun(dir string) page.Run {
	r := page.Run{Finished: true, Next: shell.Line("ledg", "report", dir, "--out", "report.html") + "\n" + predictLine(dir)}
	if k, err := artifact.Read(dir); err == nil && k != nil && k.Estimate != nil {
		r.Estimate = k.Estimate.String()
	} else if res, err := result.ReadResult(os.DirFS(dir), result.ResultFile); err == nil && res.Accuracy.Measured() {
		c := res.Accuracy.LastEpoch
		r.Estimate = fmt.Sprintf("Accuracy on the held-out site %s: %.1f%% (%v correct)", res.Target, 100*c.TargetAccuracy, c.Target)
	}
	if n, err := run.LabelledSince(dir); err == nil && n > 0 {
		r.Changed, r.Next = n, shell.Line("ledg", "extend", dir)
	}
	return r
}

// ofFolder sets the options for the images of a data set.
func (f *labelFlags) ofFolder(o *page.Options) error {
	f.data.say = f.progress
	d, truth, err := f.data.openDataset()
	if err != nil {
		return err
	}
	root, err := d.Folder(f.data.root)
	if err != nil {
		return err
	}
	o.Title, o.Data, o.Root, o.Classes, o.Rest, o.Seed = d.Name, d, root, d.Classes, true, f.seed
	if f.data.root != "" {
		o.Title = filepath.Base(filepath.Clean(f.data.root))
	}
	if len(d.Classes) == 0 {
		return usagef("--classes is missing: no folder of %s names a class; give them, such as --classes cat,dog, or where its folders are classes, --layout '{class}/{name}'", f.data.root)
	}
	if f.data.notes != "" {
		f.progress("%s\n", f.data.notes)
	}
	for _, note := range d.GroupNotes(truth) {
		f.progress("%s\n", note)
	}
	if o.Predictions, err = f.suggestions(d, root); err != nil {
		return err
	}
	o.Next = shell.Line(append([]string{"ledg", "train"}, append(f.where(), "--labels", filepath.Join(f.ledger, labels.File), "--target", "SITE")...)...)
	if !f.again {
		o.Known = truth.Knows
	}
	o.Empty = "Every image has a class from its folder or --labels. ledg label --again shows them all the same."
	return nil
}

// suggestions are what the file of boxes says of each box, where it is one of the classes.
func (f *labelFlags) suggestions(d *datasets.Dataset, root string) (map[string]page.Prediction, error) {
	boxes, err := f.data.box.boxes()
	if err != nil || boxes == nil {
		return nil, err
	}
	said, source, err := boxes.Said(d, root)
	list := make(map[string]page.Prediction)
	for id, s := range said {
		list[id] = page.Prediction{Class: s.Class, Probability: s.Score, Source: source}
	}
	return list, err
}

// where returns the arguments that name the images to label.
func (f *labelFlags) where() []string {
	if f.dir != "" {
		return []string{f.dir}
	}
	list := []string{"--dataset", f.data.dataset}
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				list = append(list, flag, v)
			}
		}
	}
	add("--root", f.data.root)
	add("--classes", f.data.classes)
	add("--group", f.data.group)
	add("--exclude", f.data.exclude...)
	add("--layout", f.data.layout)
	add("--site", f.data.site)
	add("--decode", f.data.decode)
	if f.data.gap > 0 {
		add("--events", f.data.gap.String())
	}
	if b := f.data.box; b.File != "" {
		add("--boxes", b.File)
		if b.Score != datasets.DefaultBoxScore {
			add("--box-score", fmt.Sprint(b.Score))
		}
		add("--box-class", b.Classes...)
		if b.Labels {
			list = append(list, "--box-labels")
		}
	}
	return list
}

// readPredictions reads predictions for the images of a data set from a table of ledg predict. Rows
// of other images are ignored; it is an error if no row names an image of the data set.
func readPredictions(path, root string, d *datasets.Dataset) (map[string]page.Prediction, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	predictions := make(map[string]page.Prediction)
	rows := 0
	err = predict.ReadTable(path, func(p predict.Prediction) error {
		rows++
		id := filepath.ToSlash(filepath.Clean(p.Path))
		if _, ok := d.Index(id); !ok {
			file, err := filepath.Abs(p.Path)
			if err != nil {
				return err
			}
			if id, err = filepath.Rel(abs, file); err != nil {
				return nil // elsewhere
			}
			id = filepath.ToSlash(id)
		}
		if _, ok := d.Index(id); ok {
			predictions[id] = page.Prediction{Class: p.Class, Probability: float64(p.Probability)}
		}
		return nil
	})
	if err == nil && len(predictions) == 0 {
		err = fmt.Errorf("none of its %d rows names an image of %s", rows, d.Name)
	}
	return predictions, err
}
