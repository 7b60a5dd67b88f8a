package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/observations"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// withEvents makes the labels of the flags those with events as groups, and names a file of them in the
// cache in place of the flags' own. The groups of a table count instead, if it has some.
func (f *dataFlags) withEvents(o *datasets.Options) error {
	gap := f.events
	switch {
	case gap == 0:
		return nil
	case gap < 0:
		return usagef("--events %v: want a gap such as 60s, or 0 for none", gap)
	case f.dataset != photoDataset:
		return usagef("--events %v: times are read from photos in folders: --dataset %s", gap, photoDataset)
	case f.group != "":
		return usagef("--events %v: --group makes other groups; give one of them", gap)
	}
	f.events = 0
	if slices.ContainsFunc(o.Labels, func(l datasets.Label) bool { return l.Group != "" }) {
		f.eventNotes = "the groups of the table are used, and no events of --events"
		return nil
	}
	found, err := datasets.Capture{Gap: gap, Table: f.labels, ID: f.columns.ID}.Find(context.Background(), f.root, f.exclude)
	if err != nil {
		return usagef("--events %v: %w", gap, err)
	}
	root, err := filepath.Abs(f.root)
	if err != nil {
		return err
	}
	list := datasets.Renamed(root, found.IDs, o.Labels)
	for id, event := range found.Events {
		list = append(list, datasets.Label{ID: id, Group: event})
	}
	slices.SortStableFunc(list, func(a, b datasets.Label) int { return strings.Compare(a.ID, b.ID) })
	dir, err := datasets.CacheFolder("")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "events", fmt.Sprintf("%.16s.jsonl", labels.Digest(list)))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := regular.WriteFile(file, func(w io.Writer) error { return labels.WriteUserLabels(w, list) }); err != nil {
		return err
	}
	f.gap, f.eventNotes, f.labels, f.columns = gap, strings.Join(found.Notes, "\n"), file, datasets.ColumnNames{}
	where := make(map[string]string) // errors name the table
	for _, l := range list {
		where[l.ID] = cmp.Or(l.Where, where[l.ID])
	}
	o.Labels, err = labels.ReadFile(file)
	for i, l := range o.Labels {
		o.Labels[i].Where = cmp.Or(where[l.ID], l.Where)
	}
	return err
}

// captureFlags are the flags about times and events of photos.
type captureFlags struct{ datasets.Capture }

func (f *captureFlags) add(flags *pflag.FlagSet) {
	flags.DurationVar(&f.Gap, "events", 0, "gap that ends an event of a folder's photos, such as 60s")
	flags.StringVar(&f.Table, "times", "", "table of the photos' times, or Camtrap DP package with their events")
}

// capture returns what the flags say, with an absolute path.
func (f *captureFlags) capture() (c datasets.Capture, err error) {
	if c = f.Capture; c.Gap < 0 {
		return c, usagef("--events %v: want a gap such as 60s, or 0 for none", c.Gap)
	}
	if c.Table == "" {
		return c, nil
	}
	if _, err := os.Stat(c.Table); err != nil {
		return c, usagef("--times %s: %w", c.Table, err)
	}
	c.Table, err = filepath.Abs(c.Table)
	return c, err
}

// capturedOf sets the events of photos in a folder for predictions, and returns their times, by their paths.
func capturedOf(cmd *cobra.Command, f *predict.FilesOptions) (times map[string]time.Time, err error) {
	if f.Capture == (datasets.Capture{}) && !f.Units {
		return nil, nil
	}
	if info, err := os.Stat(f.Images[0]); len(f.Images) > 1 || err != nil || !info.IsDir() {
		return nil, usagef("--events %v --times %q: want one folder as --images", f.Capture.Gap, f.Capture.Table)
	}
	found, err := f.Capture.Find(cmd.Context(), f.Images[0], nil)
	if err != nil {
		return nil, err
	}
	for _, note := range found.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), note)
	}
	times = make(map[string]time.Time)
	if found.Events != nil {
		f.Events = make(map[string]string)
	}
	for _, id := range found.IDs {
		name := filepath.Join(f.Images[0], filepath.FromSlash(id))
		if times[name] = found.Times[id]; found.Events != nil {
			f.Events[name] = found.Events[id]
		}
	}
	return times, nil
}

// tellUnits says what was predicted of images and events.
func tellUnits(w io.Writer, s predict.Summary) {
	if s.Boxes != nil {
		fmt.Fprintln(w, s.Boxes.Note)
	}
	for i, list := range [][]*observations.Unit{s.Images, s.Events}[:len(s.Files)] {
		fmt.Fprintf(w, "%s: %s\n", s.Files[i], count(len(list), []string{"image", "event"}[i]))
	}
}
