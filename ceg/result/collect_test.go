package result

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// finishedRun writes a finished run of a name into a folder, with a map that a figure
// has kept and weights.
func finishedRun(t *testing.T, folder, name string) {
	t.Helper()
	d := fatal.Get(Open(filepath.Join(folder, name), newSettings(1), Place{}, false))(t)
	defer d.Close()
	var records []Record
	for e := range 3 {
		r := sample(e, 12+4*e, 4, 5+e, 7)
		first := &r.Accuracy[0]
		first.Classes = ClassTallies{{Correct: first.Tally.Correct, Total: 4, Predicted: 4}}
		if e == 2 {
			r.Queried = 0
		}
		records = append(records, r)
		fatal.If(t, d.AppendRecord(r))
	}
	fatal.If(t, d.AppendQueries([]Query{{ID: "print/1", Domain: "print", Class: "a, \"b\"\n<c>"}}))
	choices := fatal.Get(Choose(records))(t)
	fatal.If(t, errors.Join(
		d.Finish(Result{Format: Format, Method: "ceg", Dataset: "glyphs", Target: "photo", Seed: 1<<64 - 1, Epochs: 3, Pool: 400, Budget: 20, Labels: 20, ValLabels: 8, Accuracy: choices,
			Timing: Timing{Began: time.Unix(1, 0).UTC(), Seconds: 4.5, Train: 3, Wait: 1, Eval: 1, Query: 0.5, Prepare: 2, Compile: 1, PeakMemoryBytes: 7, Machine: "EPYC", Threads: 2}}),
		WriteMap(d.File(MapFile), []MapPoint{{"print/1", "print", "a", 1.5, -2}}),
		os.WriteFile(d.File("checkpoint.safetensors"), make([]byte, 1<<16), 0o666)))
}

// everything is the content of a run without its place.
func everything(t *testing.T, r *Run) string {
	t.Helper()
	queries, errQ := r.Queries()
	points, errM := r.Map()
	if errQ != nil || errM != nil {
		t.Fatal(errQ, errM)
	}
	lines := lines(t, r.Records...)
	res := fatal.Get(r.Result.Line())(t)
	return fmt.Sprint(r.Name(), lines, string(res), queries, points, r.Config)
}

// contents returns the files of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries := fatal.Get(os.ReadDir(folder))(t)
	for _, e := range entries {
		data := fatal.Get(os.ReadFile(filepath.Join(folder, e.Name())))(t)
		files[e.Name()] = string(data)
	}
	return files
}

// A plan that is compressed replaces the other, and reads as it was; a folder with both has one plan.
func TestPackedPlan(t *testing.T) {
	dir := t.TempDir()
	p := &Plan{Format: Format, Name: "s", About: "why", Runs: []PlannedRun{{Dir: "a", Seed: 1}}}
	for i, write := range []func(string) error{p.Write, p.WritePacked, p.WritePacked, p.Write} {
		fatal.If(t, write(dir))
		got, err := ReadPlans(dir)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], p) {
			t.Errorf("%d: got %v, %v", i, got, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1+i/3 {
			t.Errorf("%d: %v, %v", i, entries, err)
		}
	}
	fatal.If(t, os.WriteFile(filepath.Join(dir, "t"+packedSuffix), []byte("x"), 0o666))
	fatal.Says(t, fatal.Err(ReadPlans(dir)), "t.study.json.zst")
}

func TestCollect(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b", "c", "d"} {
		finishedRun(t, from, name)
	}
	write := func(name string, dirs ...string) {
		p := Plan{Format: Format, Name: name}
		for _, d := range dirs {
			p.Runs = append(p.Runs, PlannedRun{Dir: d})
		}
		fatal.If(t, p.Write(to))
	}
	collect := func(folder string, names ...string) {
		t.Helper()
		var runs []*Run
		for _, name := range names {
			r := fatal.Get(OpenRun(filepath.Join(folder, name)))(t)
			runs = append(runs, r)
		}
		fatal.If(t, Collect(to, runs, Omit{}))
	}
	fileOf := func() map[string][]string {
		t.Helper()
		c := fatal.Get(readCollection(to))(t)
		of := map[string][]string{}
		for name, data := range c.file {
			first, _, _ := bytes.Cut(data, []byte("\n"))
			var h head
			fatal.If(t, Decode(first, &h))
			of[name] = h.Runs
		}
		return of
	}
	write("large", "a", "b", "c")
	write("small", "b", "c")
	collect(from, "b", "a")
	collect(from, "c", "d")
	if got, want := fileOf(), (map[string][]string{"large.runs.jsonl.zst": {"a"}, "small.runs.jsonl.zst": {"b", "c"}, "runs.jsonl.zst": {"d"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the runs are in %v, want %v", got, want)
	}
	before := contents(t, to)
	collect(from, "d", "a")
	collect(to, "b") // from itself
	if !reflect.DeepEqual(contents(t, to), before) {
		t.Error("the same runs give other bytes")
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		own := fatal.Get(OpenRun(filepath.Join(from, name)))(t)
		got := fatal.Get(OpenRun(filepath.Join(to, name)))(t)
		if a, b := everything(t, own), everything(t, got); a != b {
			t.Errorf("collected is\n%s\nwant\n%s", b, a)
		}
		if _, err := got.File("checkpoint.safetensors"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("weights were collected: %v", err)
		}
		if _, err := got.Scores(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("scores that nothing computed: %v", err)
		}
	}
	// A smaller plan takes its runs; no file is left behind.
	write("tiny", "d")
	write("least", "b")
	write("last", "c")
	collect(from, "b")
	if got, want := fileOf(), (map[string][]string{"large.runs.jsonl.zst": {"a"}, "least.runs.jsonl.zst": {"b"}, "last.runs.jsonl.zst": {"c"}, "tiny.runs.jsonl.zst": {"d"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the runs are in %v, want %v", got, want)
	}
	// Runs with and without a folder of their own are side by side.
	finishedRun(t, to, "e")
	all, err := OpenAll(to)
	if err != nil || len(all) != 5 || all[1].Path != filepath.Join(to, "b") {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	if some, err := OpenAll(filepath.Join(to, "e"), filepath.Join(to, "c")+"/"); err != nil || len(some) != 2 || some[1].Name() != "c" {
		t.Errorf("%d runs, %v", len(some), err)
	}
	runs := OpenRuns(to)
	for name, want := range map[string]State{"a": Complete, "e": Complete, "f": NotStarted} {
		if s, err := runs.State(name); err != nil || s != want {
			t.Errorf("%s is %v, %v, want %v", name, s, err, want)
		}
	}
	// What is in hand in a folder of its own does not hide what was collected.
	d := fatal.Get(Open(filepath.Join(to, "a"), newSettings(1), Place{}, false))(t)
	defer d.Close()
	if r, err := runs.Run("a"); err != nil || r.Result == nil {
		t.Errorf("%+v, %v", r, err)
	}
	if names, err := runs.Names(); err != nil || !slices.Equal(names, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := OpenRun(filepath.Join(to, "f")); err == nil || !strings.HasSuffix(err.Error(), "f: no such file or directory") {
		t.Errorf("a run that is not there: %v", err)
	}
}

// Collecting without training's details keeps accuracies, labels, the result, and counts by class
// of the selected epochs.
func TestCollectOmits(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	finishedRun(t, from, "a")
	whole := fatal.Get(OpenRun(filepath.Join(from, "a")))(t)
	fatal.If(t, Collect(to, []*Run{whole}, Omit{Queries: true, Training: true}))
	brief := fatal.Get(OpenRun(filepath.Join(to, "a")))(t)
	if _, err := brief.Queries(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("queries: %v, want that there are none", err)
	}
	short := *whole.Result
	short.Timing = Timing{Began: time.Unix(1, 0).UTC(), Seconds: 4.5, Machine: "EPYC", Threads: 2}
	if !reflect.DeepEqual(*brief.Result, short) {
		t.Errorf("the result is %+v, want %+v", *brief.Result, short)
	}
	if len(brief.Records) != len(whole.Records) {
		t.Fatalf("%d records, want %d", len(brief.Records), len(whole.Records))
	}
	for i, rec := range brief.Records {
		want := whole.Records[i]
		want.Loss, want.LearningRate, want.Time = Losses{}, LearningRates{}, Time{}
		want.PseudoLabel, want.Reliable = PseudoLabel{}, Tally{}
		if i == 1 { // the first has the best target accuracy, the last is the last
			want.Accuracy[0].Classes = nil
		}
		if !reflect.DeepEqual(rec, want) {
			t.Errorf("epoch %d is %+v, want %+v", i, rec, want)
		}
	}
}

// Whatever is wrong with a file of collected runs, its name is said, and the run's.
func TestCollectedThatDoNotFit(t *testing.T) {
	from := t.TempDir()
	finishedRun(t, from, "a")
	r := fatal.Get(OpenRun(filepath.Join(from, "a")))(t)
	good := t.TempDir()
	fatal.If(t, Collect(good, []*Run{r}, Omit{}))
	c := fatal.Get(readCollection(good))(t)
	text := string(c.file[collectedSuffix])
	for _, tt := range []struct{ from, to, want string }{
		{`{"format":1,`, `{"format":9,`, "runs.jsonl.zst: it has format 9"},
		{`{"format":1,`, `{"format":1,"colour":1,`, `runs.jsonl.zst: unknown field "colour"`},
		{`["a"]`, `["a","b"]`, "runs.jsonl.zst: it ends before run 2 of 2, b"},
		{`["a"]`, `[]`, "runs.jsonl.zst: there is more after the last of 0 runs"},
		{`"name":"a"`, `"name":"b"`, "a: its line is of b"},
		{`"tally":[7,10]`, `"tally":[8,10]`, "a: result.json: accuracy."},
		{`"labels":16`, `"labels":17`, "a: records.jsonl:2: labels is 17"},
		{`"epochs":3`, `"epochs":"3"`, "a: result.json: "},
	} {
		t.Run(tt.to, func(t *testing.T) {
			dir := t.TempDir()
			changed := strings.Replace(text, tt.from, tt.to, 1)
			if changed == text {
				t.Fatalf("there is no %s", tt.from)
			}
			fatal.If(t, writePacked(filepath.Join(dir, collectedSuffix), []byte(changed)))
			fatal.Says(t, fatal.Err(OpenRun(filepath.Join(dir, "a"))), tt.want)
		})
	}
	fatal.If(t, os.WriteFile(filepath.Join(good, collectedSuffix), []byte("torn"), 0o666))
	fatal.Says(t, fatal.Err(OpenRuns(good).State("a")), collectedSuffix)
}
