package datasets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bep/imagemeta"

	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/sheet"
)

// timeColumns are the columns of tables with the time at which a photo was taken.
var timeColumns = []string{"timestamp", "datetime", "date_time", "date_time_original", "capture_time", "captured_at", "date_captured", "time"}

// timeLayouts are how times are written; a time without a zone is that of the camera's clock.
var timeLayouts = []string{"2006:01:02 15:04:05", time.DateTime, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006/01/02 15:04:05", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04", "2006-01-02T15:04", "02-Jan-2006 15:04:05"}

// ParseTime reads a time of a camera's clock; ok is false for another text. A zone is left out, as
// clocks have none.
func ParseTime(text string) (t time.Time, ok bool) {
	text = strings.TrimRight(strings.TrimSpace(text), "\x00")
	if i := strings.LastIndexByte(text, '.'); i > 0 && strings.Trim(text[i+1:], "0123456789") == "" { // parts of a second
		text = text[:i]
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC), true
		}
	}
	return t, false
}

// namedTime is a time in the name of a file, such as IMG_20260501_101112.jpg or 2026-05-01 10-11-12.jpg.
var namedTime = regexp.MustCompile(`(?:^|[^0-9])((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])[-_ T.]{0,3}([01]\d|2[0-3])[-_.h:]?([0-5]\d)[-_.m:]?([0-5]\d)`)

// timeOfName returns the time in a file's name.
func timeOfName(name string) (t time.Time, ok bool) {
	m := namedTime.FindStringSubmatch(path.Base(name))
	if m == nil {
		return t, false
	}
	return ParseTime(m[1] + "-" + m[2] + "-" + m[3] + " " + m[4] + ":" + m[5] + ":" + m[6])
}

// exifHead is how much of a file is read for its EXIF block, in bytes; one of a JPEG has at most 64 KiB.
const exifHead = 1 << 18

// timeOfExif returns DateTimeOriginal of a file, or DateTime, which the reader calls ModifyDate.
func timeOfExif(fsys fs.FS, id string) (t time.Time, ok bool) {
	f, err := regular.OpenFS(fsys, id, rgb.MaxFile)
	if err != nil {
		return t, false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, exifHead))
	if err != nil {
		return t, false
	}
	formats := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "tiff": imagemeta.TIFF, "webp": imagemeta.WebP}
	format, known := formats[rgb.Format(head)]
	if !known {
		return t, false
	}
	found := make(map[string]string)
	imagemeta.Decode(imagemeta.Options{ // of a damaged block what came before counts
		R: bytes.NewReader(head), ImageFormat: format, Sources: imagemeta.EXIF,
		ShouldHandleTag: func(t imagemeta.TagInfo) bool { return t.Tag == "DateTimeOriginal" || t.Tag == "ModifyDate" },
		HandleTag: func(t imagemeta.TagInfo) error {
			if v, ok := t.Value.(string); ok && found[t.Tag] == "" {
				found[t.Tag] = v
			}
			return nil
		},
	})
	if t, ok = ParseTime(found["DateTimeOriginal"]); !ok {
		t, ok = ParseTime(found["ModifyDate"])
	}
	return t, ok
}

// captureTimes returns when the photos with these paths were taken by the cameras' clocks: by given, a
// map of IDs, or else their EXIF, or else their names; the zero time if nothing says it.
func captureTimes(ctx context.Context, fsys fs.FS, ids []string, given map[string]time.Time) ([]time.Time, error) {
	times := make([]time.Time, len(ids))
	return times, each(ctx, len(ids), nil, func(i int) error {
		t, ok := given[ids[i]]
		if !ok {
			t, ok = timeOfExif(fsys, ids[i])
		}
		if !ok {
			t, _ = timeOfName(ids[i])
		}
		times[i] = t
		return nil
	})
}

// Capture says how the times and the events of photos are found.
type Capture struct {
	// Gap is the largest time between two photos of an event; 0 for no other events than Table's.
	Gap time.Duration `json:"gap,omitempty"`
	// Table has the photos' times in a column such as timestamp, or is a Camtrap DP package, whose own
	// events count; empty for none. ID is the column of the paths, if not the usual one.
	Table string `json:"table,omitempty"`
	ID    string `json:"id,omitempty"`
}

// Captured are the times and events of the photos with the paths IDs, by path, of those where something says them.
// Events is nil for none at all. Notes say in a line each what was found.
type Captured struct {
	IDs    []string
	Times  map[string]time.Time
	Events map[string]string
	Notes  []string
}

// Find returns the times and events of the photos below a folder, without those that patterns leave out, and of
// also.
func (c Capture) Find(ctx context.Context, root string, patterns []string, also ...string) (*Captured, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	ids, err := listImages(os.DirFS(root), patterns)
	if err != nil {
		return nil, err
	}
	ids = append(ids, also...)
	slices.Sort(ids)
	v, table := &Captured{IDs: slices.Compact(ids), Times: make(map[string]time.Time)}, c.Table
	if table != "" && IsCamtrap(table) {
		t, err := ReadTable(table, ColumnNames{})
		if err != nil {
			return nil, err
		}
		own := make(map[string]string)
		for _, l := range Renamed(root, v.IDs, t.Labels) {
			if _, there := slices.BinarySearch(v.IDs, l.ID); there && l.Group != "" {
				own[l.ID] = l.Group
			}
		}
		if len(own) == 0 && slices.ContainsFunc(t.Labels, func(l Label) bool { return l.Group != "" }) {
			return nil, fmt.Errorf("%s: no image of its events is in %s, first %s", table, root, t.Labels[0].ID)
		}
		if len(own) > 0 {
			v.Events, v.Notes = own, []string{fmt.Sprintf("the events of %s are used, of %d of %s", filepath.Base(table), len(own), plural(len(v.IDs), "image"))}
		}
		table = t.media
	}
	given, err := readTimes(table, c.ID, root, v.IDs)
	if err != nil {
		return nil, err
	}
	times, err := captureTimes(ctx, os.DirFS(root), v.IDs, given)
	if err != nil {
		return nil, err
	}
	var events []string
	if v.Events == nil && c.Gap > 0 {
		v.Events = make(map[string]string)
		events, v.Notes = Events(v.IDs, times, c.Gap)
	}
	for i, id := range v.IDs {
		if !times[i].IsZero() {
			v.Times[id] = times[i]
		}
		if events != nil && events[i] != "" {
			v.Events[id] = events[i]
		}
	}
	if c.Gap > 0 && len(v.Events) == 0 {
		return nil, fmt.Errorf("no photo in %s has a time in its EXIF, in a table or in its name, for events of %v", root, c.Gap)
	}
	return v, nil
}

// readTimes reads the times of photos from a table with a column such as timestamp, for IDs below an
// absolute root; none from another file.
func readTimes(file, id, root string, ids []string) (map[string]time.Time, error) {
	if !hasSuffix(file, ".csv") && !hasSuffix(file, ".tsv") {
		return nil, nil
	}
	column := ""
	_ = sheet.Read(file, maxList, maxLine, func(head []string) error {
		if i := sheet.Column(head, timeColumns...); i >= 0 {
			column = head[i]
		}
		return fs.SkipAll // no more than the header
	}, nil)
	if column == "" {
		return nil, nil
	}
	c, err := ReadColumns(file, ColumnNames{ID: id, Class: column})
	if err != nil {
		return nil, err
	}
	var list []Found
	var times []time.Time
	finder := newFinder(root, ids)
	if err := readRows(file, func(r sheet.Row) error {
		l := c.Label(r)
		if t, ok := ParseTime(l.Class); ok {
			list, times = append(list, finder.Find(l.ID)), append(times, t)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	finder.Settle(list)
	told := make(map[string]time.Time)
	for k, f := range list {
		if f.Err == nil {
			told[ids[f.Index]] = times[k]
		}
	}
	if len(list) > 0 && len(told) == 0 {
		return nil, fmt.Errorf("%s: no image with a time in it is in %s, first %s", file, root, list[0].name)
	}
	return told, nil
}

// listImages returns the paths of the files below a folder that are called as images are, at any depth,
// in byte order, without those that patterns leave out. Links are not followed.
func listImages(fsys fs.FS, patterns []string) (ids []string, err error) {
	l := &lister{fsys: fsys, patterns: patterns, leaves: func(string) error { return fs.ErrInvalid }}
	err = l.walk(func(dir string, files []string) error {
		for _, name := range files {
			if ImageName(name) {
				ids = append(ids, path.Join(dir, name))
			}
		}
		return nil
	})
	return ids, err
}
