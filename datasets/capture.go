package datasets

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"regexp"
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

// CaptureTimes returns when the photos with these paths were taken by the cameras' clocks: by given, a
// map of IDs, or else their EXIF, or else their names; the zero time if nothing says it.
func CaptureTimes(ctx context.Context, fsys fs.FS, ids []string, given map[string]time.Time) ([]time.Time, error) {
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

// ReadTimes reads the times of photos from a table with a column such as timestamp, for IDs below an
// absolute root; none from another file.
func ReadTimes(file string, names ColumnNames, root string, ids []string) (map[string]time.Time, error) {
	if !hasSuffix(file, ".csv") && !hasSuffix(file, ".tsv") {
		return nil, nil
	}
	c, err := ReadColumns(file, names)
	if err != nil || sheet.Column(c.head, timeColumns...) < 0 {
		return nil, err
	}
	var list []Found
	var times []time.Time
	finder := newFinder(root, ids)
	if err := readRows(file, func(r sheet.Row) error {
		if t, ok := ParseTime(r.Cell(timeColumns...)); ok {
			list, times = append(list, finder.Find(c.Label(r).ID)), append(times, t)
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
	return told, nil
}

// ListImages returns the paths of the files below a folder that are called as images are, at any depth,
// in byte order, without those that patterns leave out. Links are not followed.
func ListImages(fsys fs.FS, patterns []string) (ids []string, err error) {
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
