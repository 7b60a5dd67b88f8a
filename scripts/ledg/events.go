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

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
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
	list := slices.Clone(o.Labels)
	events, notes, err := eventsIn(f.root, f.exclude, gap, func(root string, ids []string) (map[string]time.Time, error) {
		list = datasets.Renamed(root, ids, list)
		return datasets.ReadTimes(f.labels, f.columns, root, ids)
	})
	if err != nil {
		return err
	}
	for id, event := range events {
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
	f.gap, f.eventNotes, f.labels, f.columns = gap, strings.Join(notes, "\n"), file, datasets.ColumnNames{}
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

// eventsIn returns the events of the photos in a folder, by ID, with gaps of at most gap; told says their
// times, if anything but the photos does.
func eventsIn(root string, exclude []string, gap time.Duration, told func(root string, ids []string) (map[string]time.Time, error)) (events map[string]string, notes []string, err error) {
	if gap < 0 {
		return nil, nil, usagef("--events %v: want a gap such as 60s, or 0 for none", gap)
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, nil, err
	}
	ids, err := datasets.ListImages(os.DirFS(root), exclude)
	if err != nil {
		return nil, nil, err
	}
	says, err := told(root, ids)
	if err != nil {
		return nil, nil, err
	}
	times, err := datasets.CaptureTimes(context.Background(), os.DirFS(root), ids, says)
	if err != nil {
		return nil, nil, err
	}
	names, notes := datasets.Events(ids, times, gap)
	events = make(map[string]string)
	for i, name := range names {
		if name != "" {
			events[ids[i]] = name
		}
	}
	if len(events) == 0 {
		return nil, nil, usagef("--events %v: no photo in %s has a time in its EXIF, in a table or in its name", gap, root)
	}
	return events, notes, nil
}

// eventsOf returns the events of photos in a folder by their paths; nil for the gap 0.
func eventsOf(say io.Writer, roots []string, gap time.Duration) (map[string]string, error) {
	if gap == 0 {
		return nil, nil
	}
	if info, err := os.Stat(roots[0]); len(roots) > 1 || err != nil || !info.IsDir() {
		return nil, usagef("--events %v: want one folder as --images", gap)
	}
	events, notes, err := eventsIn(roots[0], nil, gap, func(string, []string) (map[string]time.Time, error) { return nil, nil })
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(say, strings.Join(notes, "\n"))
	all := make(map[string]string)
	for id, event := range events {
		all[filepath.Join(roots[0], filepath.FromSlash(id))] = event
	}
	return all, nil
}

// tellUnits says what was predicted of images and events.
func tellUnits(w io.Writer, s predict.Summary) {
	if s.Boxes != nil {
		fmt.Fprintln(w, s.Boxes.Note)
	}
	for i, list := range [][]*predict.Unit{s.Images, s.Events}[:len(s.Files)] {
		fmt.Fprintf(w, "%s: %s\n", s.Files[i], count(len(list), []string{"image", "event"}[i]))
	}
}
