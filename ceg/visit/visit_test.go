package visit_test

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/visit"
	"github.com/ledg-go/ledg/datasets"
)

// trained trains a small network on glyphs but for one style.
func trained(t *testing.T) run.Options {
	t.Helper()
	enginetest.Open(t)
	c := fatal.Get(config.Resolve(config.Spec{Dataset: "glyphs", Target: "photo", Method: "uniform-ce", Preset: config.Authors, Epochs: 3}))(t)
	c.Data.ImageSize, c.Network.Width = 16, 8
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	fatal.Get(run.Run(t.Context(), c, o))(t)
	return o
}

// draw writes images of a domain of glyphs to a folder, and returns their classes.
func draw(t *testing.T, dir, domain string, from, to int) map[string]string {
	t.Helper()
	d, truth := fatal.Get2(datasets.Glyphs(60))(t)
	k := fatal.Get(d.Domain(domain))(t)
	fatal.If(t, os.MkdirAll(dir, 0o777))
	classes, n := map[string]string{}, 0
	for i, e := range d.Examples {
		if e.Domain != k {
			continue
		}
		if n++; n <= from || n > to {
			continue
		}
		m := fatal.Get(d.Image(i))(t)
		var b bytes.Buffer
		fatal.If(t, png.Encode(&b, m.ToImage()))
		name := strings.NewReplacer("/", "_").Replace(e.ID) + ".png"
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o666))
		classes[name] = d.Classes[truth.Class(i)]
	}
	return classes
}

// label labels the open queries of a site.
func label(t *testing.T, dir string, class func(id string) string) (n int) {
	t.Helper()
	l := fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
	defer l.Close()
	var events []labels.Event
	l.View(func(s *labels.State) {
		for im := range s.Images() {
			if im.Status == labels.IsOpen {
				events = append(events, labels.Event{Kind: labels.Labelled, ID: im.ID, Class: class(im.ID), By: "ann"})
			}
		}
	})
	fatal.Get(l.Append(events...))(t)
	return len(events)
}

func TestArrive(t *testing.T) {
	at := trained(t)
	images, dir := filepath.Join(t.TempDir(), "north"), filepath.Join(t.TempDir(), "site")
	truth := draw(t, images, "photo", 0, 200)
	o := visit.Options{Run: at, Dir: dir, Images: images, Adapt: 20, Audit: 60, Seed: 3}
	arrive := func(o visit.Options) *visit.Arrived {
		t.Helper()
		return fatal.Get(visit.Arrive(context.Background(), o))(t)
	}
	first := arrive(o)
	v := first.Report.Visits[0]
	if len(first.Report.Visits) != 1 || v.Images != 200 || v.Estimate == nil || v.Before != nil || first.Open != 0 {
		t.Fatalf("%+v", first.Report)
	}
	o.Query = true
	if queried := arrive(o); queried.Open != 80 {
		t.Fatalf("%d questions are open", queried.Open)
	}
	r := fatal.Get(site.Read(dir))(t)
	if len(r.Visits[0].A) != 20 || len(r.Visits[0].Audit) != 60 || slices.ContainsFunc(r.Visits[0].Audit, func(id string) bool { return slices.Contains(r.Visits[0].A, id) }) {
		t.Fatalf("A %v, audit %v", r.Visits[0].A, r.Visits[0].Audit)
	}
	// One is skipped, and asked again; one answer is taken back.
	l := fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
	fatal.Get(l.Append(labels.Event{Kind: labels.Skipped, ID: r.Visits[0].Audit[3], By: "ann"}, labels.Event{Kind: labels.Unsure, ID: r.Visits[0].Audit[4], By: "ann"}))(t)
	l.Close()
	if again := arrive(o); again.Open != 79 || !strings.Contains(strings.Join(again.Report.Warnings, "\n"), "1 images are marked unsure, such as "+r.Visits[0].Audit[4]) {
		t.Fatalf("%d questions are open after one was skipped, and one unsure; %q", again.Open, again.Report.Warnings)
	}
	l = fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
	fatal.Get(l.Append(labels.Event{Kind: labels.Corrected, ID: r.Visits[0].Audit[4], Class: truth[r.Visits[0].Audit[4]], By: "ann"}))(t)
	l.Close()
	if n := label(t, dir, func(id string) string { return truth[id] }); n != 79 {
		t.Fatalf("%d answers", n)
	}
	o.Query, o.Images, o.Run.Dir = false, "", ""
	known := arrive(o)
	v = known.Report.Visits[0]
	if v.Audited != 60 || v.ALabelled != 20 || v.After == nil || known.Open != 0 || len(known.Report.Sets) != 3 || len(known.Report.Abstain) != 3 {
		t.Fatalf("%+v", v)
	}
	// What is said of the adapted network is what it does.
	p := fatal.Get(predict.OpenWith(run.Options{Dir: dir, Backend: "go"}))(t)
	defer p.Close()
	correct := 0
	var paths []string
	for _, id := range r.Visits[0].Audit {
		paths = append(paths, filepath.Join(images, id))
	}
	err := p.Look(t.Context(), paths, func(i int, _, logits []float32, failed error) error {
		best := 0
		for c, v := range logits {
			if v > logits[best] {
				best = c
			}
		}
		if r.Classes[best] == truth[r.Visits[0].Audit[i]] {
			correct++
		}
		return failed
	})
	if err != nil || correct != v.Pairs.After().Correct {
		t.Errorf("%d of the audited images are right, the report says %v, %v", correct, v.Pairs.After(), err)
	}
	sets, err := visit.Sets(dir, p, 0.9)
	if err != nil || known.Report.Sets[1].Sets == nil || *sets != *known.Report.Sets[1].Sets {
		t.Errorf("sets %+v, of the report %+v, %v", sets, known.Report.Sets[1], err)
	}
	if one, err := visit.Abstain(dir, p, 0.2); err != nil || *one != known.Report.Abstain[1] {
		t.Errorf("abstention %+v, of the report %+v, %v", one, known.Report.Abstain[1], err)
	}
	// One flag returns to the run's own head, for all commands, and back.
	own := true
	o.Unadapted = &own
	without := arrive(o).Report.Visits[0]
	if _, err := os.Stat(filepath.Join(dir, site.AdaptedFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the adapted head is still there, %v", err)
	}
	if n := without.Counts.Tally(); *without.Now() != *v.Before || n != v.Pairs.Before() || *without.Gain != *v.Gain {
		t.Errorf("without adaptation %v, %v, gain %v; before adapting %v", *without.Now(), n, *without.Gain, *v.Before)
	}
	own = false
	if back := arrive(o).Report.Visits[0]; *back.Now() != *v.After || back.Unadapted {
		t.Errorf("adapted again %v, want %v", *back.Now(), *v.After)
	}
	o.Unadapted = nil
	// Other answers of the audit change the report alone.
	adapted := read(t, filepath.Join(dir, site.AdaptedFile))
	ledger := read(t, filepath.Join(dir, labels.File))
	fatal.If(t, os.Remove(filepath.Join(dir, labels.File)))
	o.Query = true
	arrive(o)
	label(t, dir, func(id string) string {
		if slices.Contains(r.Visits[0].A, id) {
			return truth[id]
		}
		return r.Classes[len(id)%2]
	})
	o.Query = false
	wrong := arrive(o)
	if !bytes.Equal(adapted, read(t, filepath.Join(dir, site.AdaptedFile))) {
		t.Error("answers of the audit changed the adapted head")
	}
	if wrong.Report.Visits[0].Pairs == v.Pairs {
		t.Error("answers of the audit did not change the report")
	}
	fatal.If(t, os.WriteFile(filepath.Join(dir, labels.File), ledger, 0o666))
	// New images come.
	truth2 := draw(t, images, "photo", 200, 300)
	o.Query, o.Audit, o.Adapt = true, 30, 0
	if again := arrive(o); len(again.Report.Visits) != 2 || again.Report.Visits[1].Images != 100 || again.Open != 30 {
		t.Fatalf("%d open, %+v", again.Open, again.Report.Visits[1])
	}
	label(t, dir, func(id string) string { return truth2[id] })
	// ... and the audit goes on until it is narrow.
	o.Until, o.Audit = 0.1, -1
	for range 10 {
		a := arrive(o)
		if n := label(t, dir, func(id string) string { return truth2[id] }); n == 0 {
			v := a.Report.Visits[1]
			if audit.Wilson(v.Pairs.After()).HalfWidth() > 0.1 && v.Audited < 100 || v.Audited < 30 {
				t.Errorf("it ended with %d audited, %v", v.Audited, v.After)
			}
			break
		}
	}
	// Images that go or change leave what was seen and said of them.
	last := arrive(o)
	for k, id := range r.Visits[0].Audit[:3] {
		path := filepath.Join(images, id)
		fatal.If(t, os.Remove(path))
		if k == 0 { // another image has its name now
			fatal.If(t, os.WriteFile(path, read(t, filepath.Join(images, r.Visits[0].Audit[4])), 0o666))
		}
	}
	o.Until = 0
	gone := arrive(o)
	if v := gone.Report.Visits[0]; v.Gone != 3 || v.Pairs != last.Report.Visits[0].Pairs || v.Images != 200 || len(gone.Report.Visits) != 2 {
		t.Errorf("%d are gone, pairs %+v, were %+v", v.Gone, v.Pairs, last.Report.Visits[0].Pairs)
	}
	if !strings.Contains(strings.Join(gone.Report.Warnings, "\n"), "3 of the 200 images that came") {
		t.Errorf("warnings %q", gone.Report.Warnings)
	}
	// ... and the page of questions opens, with the answers about them.
	_, d, _, err := run.OpenData(run.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Index(r.Visits[0].Audit[1]); !ok {
		t.Errorf("%s is not among the images that answers are about", r.Visits[0].Audit[1])
	}
	// A visit that nobody audits leaves what the audit before it said, and says so.
	draw(t, images, "photo", 300, 320)
	o.Query = false
	third := arrive(o).Report
	if s := third.Sentence; !strings.Contains(s, "measured on") || !strings.Contains(s, "None of the 20 images that came") || len(third.Sets) != 3 {
		t.Errorf("%d sets, %s", len(third.Sets), s)
	}
	if v := third.Visits[2]; v.AdaptedWith != 20 || v.ALabelled != 0 {
		t.Errorf("adapted with %d images, %d of this visit", v.AdaptedWith, v.ALabelled)
	}
	// A question about an image that goes is taken back.
	o.Query, o.Adapt, o.Audit = true, 0, 5
	open := arrive(o)
	r = fatal.Get(site.Read(dir))(t)
	path := filepath.Join(images, r.Visits[2].Audit[0])
	taken := read(t, path)
	fatal.If(t, os.Remove(path))
	o.Query = false
	if left := arrive(o); open.Open != 5 || left.Open != 4 {
		t.Errorf("%d questions were open, and %d when an image was gone", open.Open, left.Open)
	}
	fatal.If(t, os.WriteFile(path, taken, 0o666))
	o.Query = true
	if back := arrive(o); back.Open != 5 {
		t.Errorf("%d questions are open when the image is back", back.Open)
	}
	page := string(read(t, filepath.Join(dir, site.PageFile)))
	for _, want := range []string{"north: does it work here?", "data:image/jpeg;base64", "Errors of the audit", "after adapting with 20 labels"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	return fatal.Get(os.ReadFile(path))(t)
}

// What cannot be visited is said in one line, and leaves nothing behind that stands in the way.
func TestArriveRefuses(t *testing.T) {
	at := trained(t)
	root := t.TempDir()
	few := filepath.Join(root, "few")
	draw(t, few, "photo", 0, 12)
	empty, text := filepath.Join(root, "empty"), filepath.Join(root, "text")
	for _, dir := range []string{empty, text} {
		fatal.If(t, os.Mkdir(dir, 0o777))
	}
	fatal.If(t, os.WriteFile(filepath.Join(text, "a.png"), []byte("\x89PNG\r\n\x1a\nno more"), 0o666))
	full := filepath.Join(root, "full")
	draw(t, full, "photo", 0, 1)
	for want, o := range map[string]visit.Options{
		"name the folder of its images":         {Dir: filepath.Join(root, "s1")},
		"there are no images":                   {Dir: filepath.Join(root, "s2"), Images: empty},
		"no image can be read, such as a.png":   {Dir: filepath.Join(root, "s3"), Images: text},
		"12 images are too few for 50 to adapt": {Dir: filepath.Join(root, "s4"), Images: few, Query: true, Adapt: -1, Audit: -1},
		"no site's: name another folder":        {Dir: full, Images: few},
	} {
		o.Run = at
		if o.Say == nil {
			o.Say = t.Logf
		}
		_, err := visit.Arrive(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	// Groups by a rule that names none here leave nothing, and those by another are recorded, and stay.
	none, tens := "^(patient)", `^(.*)[0-9]\.png`
	o := visit.Options{Run: at, Dir: filepath.Join(root, "s6"), Images: few, Say: t.Logf, Group: &none}
	if _, err := visit.Arrive(t.Context(), o); err == nil || !strings.Contains(err.Error(), `group rule "^(patient)" matches none of the 12 images`) || site.Is(o.Dir) {
		t.Errorf("a rule that matches nothing: %v", err)
	}
	o.Group = &tens
	for range 2 {
		fatal.Get(visit.Arrive(t.Context(), o))(t)
	}
	if r, err := site.Read(o.Dir); err != nil || r.Group != tens {
		t.Errorf("%v, %v", r, err)
	}
	o.Group = &none
	fatal.Says(t, fatal.Err(visit.Arrive(t.Context(), o)), "was begun with the group rule")
	// Copies are left out, and the rest goes on.
	data := read(t, filepath.Join(few, firstOf(t, few)))
	fatal.If(t, os.WriteFile(filepath.Join(few, "zz.png"), data, 0o666))
	o = visit.Options{Run: at, Dir: filepath.Join(root, "s5"), Images: few}
	fatal.If(t, os.Mkdir(o.Dir, 0o777)) // of a first visit that was killed
	for _, name := range []string{site.SeenFile, site.SeenFile + ".lock"} {
		fatal.If(t, os.WriteFile(filepath.Join(o.Dir, name), nil, 0o666))
	}
	a, err := visit.Arrive(t.Context(), o)
	if err != nil || a.Report.Visits[0].Images != 12 {
		t.Fatalf("%+v, %v", a, err)
	}
	r, err := site.Read(o.Dir)
	if err != nil || len(r.Visits[0].LeftOut) != 1 || !strings.Contains(r.Visits[0].LeftOut[0].Reason, "a copy of") {
		t.Errorf("left out %v, %v", r.Visits[0].LeftOut, err)
	}
	other := trained(t)
	o.Run = other
	r.Model = "another"
	fatal.If(t, r.Write(o.Dir))
	fatal.Says(t, fatal.Err(visit.Arrive(t.Context(), o)), "was visited with the weights another")
}

func firstOf(t *testing.T, dir string) string {
	list := fatal.Get(os.ReadDir(dir))(t)
	return list[0].Name()
}
