package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// newSettings is a run's config.
func newSettings(seed uint64) config.Config {
	c := config.Must(config.Spec{Target: "photo"})
	c.Seed = seed
	return c
}

// edited is that of seed 1 as JSON, with its fields in other order and changed.
func edited(t *testing.T, change func(fields map[string]any)) string {
	t.Helper()
	var b bytes.Buffer
	fatal.If(t, WriteConfig(&b, newSettings(1)))
	fields := map[string]any{}
	fatal.If(t, json.Unmarshal(b.Bytes(), &fields))
	change(fields)
	data := fatal.Get(json.Marshal(fields))(t)
	return string(data)
}

// names lists the files in dir, except the lock.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := fatal.Get(os.ReadDir(dir))(t)
	var list []string
	for _, e := range entries {
		if e.Name() != lockFile {
			list = append(list, e.Name())
		}
	}
	return list
}

func put(t *testing.T, path, text string) {
	t.Helper()
	fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
}

func get(t *testing.T, path string) string {
	t.Helper()
	data := fatal.Get(os.ReadFile(path))(t)
	return string(data)
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A run that is killed after its second epoch, with a checkpoint of the first,
// and begun again records the same bytes.
func TestDirLife(t *testing.T) {
	records := history([2]int{3, 4}, [2]int{7, 9})
	queries := []Query{{0, "photo/1.png", "photo", "dog", nil, nil}, {1, "b", "sketch", "cat", &Scores{0.1, 1, 1e-7, 3, 0, 2, 5.5}, nil}}
	epoch := func(d *Dir, i int) {
		t.Helper()
		fatal.If(t, errors.Join(d.AppendRecord(records[i]), d.AppendQueries(queries[i:i+1])))
	}

	path := filepath.Join(t.TempDir(), "runs", "a")
	d := must[*Dir](t)(Open(path, newSettings(1), Place{}, false))
	if got := names(t, path); !slices.Equal(got, []string{ConfigFile}) {
		t.Fatalf("a new run has %q", got)
	}
	var c config.Config
	if err := ReadConfig(d.FS(), ConfigFile, &c); err != nil || !reflect.DeepEqual(c, newSettings(1)) {
		t.Errorf("config is %+v, %v", c, err)
	}
	if got := must[[]Record](t)(d.Records()); got != nil {
		t.Errorf("a new run has records %v", got)
	}
	epoch(d, 0)
	checkpoint := must[Lengths](t)(d.Lengths())
	if want := (Lengths{int64(len(lines(t, records[0]))), int64(len(get(t, d.File(QueriesFile))))}); checkpoint != want {
		t.Errorf("lengths are %+v, want %+v", checkpoint, want)
	}
	epoch(d, 1)
	wantRecords, wantQueries := lines(t, records...), "round,id,domain,class,s_u,s_r,s_d,rank_u,rank_r,rank_d,r\n"+
		"0,photo/1.png,photo,dog,,,,,,,\n1,b,sketch,cat,0.1,1,1e-07,3,0,2,5.5\n"
	if got := get(t, d.File(RecordsFile)); got != wantRecords {
		t.Errorf("records.jsonl is\n%s\nwant\n%s", got, wantRecords)
	}
	if got := get(t, d.File(QueriesFile)); got != wantQueries {
		t.Errorf("queries.csv is\n%s\nwant\n%s", got, wantQueries)
	}
	if err := d.Close(); err != nil { // as the system does for a killed process
		t.Fatal(err)
	}
	put(t, filepath.Join(path, ".checkpoint.tmp-12-0"), "{")

	d = must[*Dir](t)(Open(path, newSettings(1), Place{}, true))
	defer d.Close()
	fatal.If(t, d.Truncate(checkpoint))
	if got := must[[]Record](t)(d.Records()); !reflect.DeepEqual(got, records[:1]) {
		t.Errorf("after Truncate the records are %+v", got)
	}
	if got := must[[]Query](t)(ReadQueries(d.FS(), QueriesFile)); !reflect.DeepEqual(got, queries[:1]) {
		t.Errorf("after Truncate the queries are %+v", got)
	}
	epoch(d, 1)
	if get(t, d.File(RecordsFile)) != wantRecords || get(t, d.File(QueriesFile)) != wantQueries {
		t.Error("a resumed run records other bytes")
	}
	if got := must[[]Query](t)(ReadQueries(d.FS(), QueriesFile)); !reflect.DeepEqual(got, queries) {
		t.Errorf("queries are %+v, want %+v", got, queries)
	}
	if Finished(d.FS()) {
		t.Error("an unfinished run counts as finished")
	}
	fatal.If(t, d.Finish(sampleResult(t)))
	if !Finished(d.FS()) {
		t.Error("a finished run does not count as finished")
	}
	if got, want := names(t, path), []string{ConfigFile, DoneFile, QueriesFile, RecordsFile, ResultFile}; !slices.Equal(got, want) {
		t.Errorf("a finished run has %q, want %q", got, want)
	}
	if got := must[Result](t)(ReadResult(d.FS(), ResultFile)); !reflect.DeepEqual(got, sampleResult(t)) {
		t.Errorf("the result is %+v", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	begin := func(t *testing.T, path string) *Dir { return must[*Dir](t)(Open(path, newSettings(1), Place{}, false)) }
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		config  config.Config
		create  error
		resume  error
		text    string
	}{
		{"failed before it began", func(t *testing.T, path string) { begin(t, path).Close() }, newSettings(1), nil, nil, ""},
		{"unfinished", func(t *testing.T, path string) {
			d := begin(t, path)
			defer d.Close()
			fatal.If(t, d.AppendQueries(nil))
		}, newSettings(1), ErrUnfinished, nil, ""},
		{"finished", func(t *testing.T, path string) {
			d := begin(t, path)
			defer d.Close()
			fatal.If(t, d.Finish(sampleResult(t)))
		}, newSettings(1), ErrFinished, ErrFinished, ""},
		{"another seed", func(t *testing.T, path string) { begin(t, path).Close() }, newSettings(2), ErrForeign, ErrForeign,
			"config.json: it has seed = 1, this run has 2"},
		{"another inner setting", func(t *testing.T, path string) { begin(t, path).Close() },
			func() config.Config { c := newSettings(1); c.Schedule.Epochs = 3; return c }(), ErrForeign, ErrForeign,
			"config.json: it has schedule.epochs = 20, this run has 3"},
		{"held", func(t *testing.T, path string) { d := begin(t, path); t.Cleanup(func() { d.Close() }) },
			newSettings(1), ErrLocked, ErrLocked, path0},
		{"other files", func(t *testing.T, path string) { put(t, filepath.Join(path, "thesis.tex"), "x") },
			newSettings(1), ErrForeign, ErrForeign, "has thesis.tex but no config.json"},
		{"killed while it began", func(t *testing.T, path string) {
			put(t, filepath.Join(path, ".config.json.tmp-77-0"), `{"for`)
			put(t, filepath.Join(path, lockFile), "")
		}, newSettings(1), nil, nil, ""},
		{"another version's format", func(t *testing.T, path string) { put(t, filepath.Join(path, ConfigFile), `{"format":7}`) },
			newSettings(1), ErrForeign, ErrForeign, "config.json: it has format 7; this version of ledg reads format 1"},
		{"another version's field", func(t *testing.T, path string) {
			put(t, filepath.Join(path, ConfigFile), edited(t, func(f map[string]any) { f["warmup"] = 3 }))
		}, newSettings(1), ErrForeign, ErrForeign, `unknown field "warmup"`},
		{"an older version's fields", func(t *testing.T, path string) {
			put(t, filepath.Join(path, ConfigFile), edited(t, func(f map[string]any) { delete(f["schedule"].(map[string]any), "epochs") }))
		}, newSettings(1), ErrForeign, ErrForeign, `missing field "schedule.epochs"`},
		{"no JSON", func(t *testing.T, path string) { put(t, filepath.Join(path, ConfigFile), "") }, newSettings(1),
			ErrForeign, ErrForeign, "not a JSON object with a format"},
		{"same in other words", func(t *testing.T, path string) {
			put(t, filepath.Join(path, ConfigFile), edited(t, func(map[string]any) {}))
			put(t, filepath.Join(path, RecordsFile), "")
		}, newSettings(1), ErrUnfinished, nil, ""},
	} {
		for _, mode := range []struct {
			name   string
			resume bool
			want   error
		}{{"new", false, tt.create}, {"resumed", true, tt.resume}} {
			t.Run(tt.name+"/"+mode.name, func(t *testing.T) {
				path := t.TempDir()
				tt.prepare(t, path)
				before := names(t, path)
				d, err := Open(path, tt.config, Place{}, mode.resume)
				if !errors.Is(err, mode.want) || err != nil && !strings.Contains(err.Error(), strings.Replace(tt.text, path0, path, 1)) {
					t.Fatalf("error is %v, want %v and %q", err, mode.want, tt.text)
				}
				if d != nil {
					d.Close()
				} else if got := names(t, path); !slices.Equal(got, before) {
					t.Errorf("a refused directory changed from %q to %q", before, got)
				}
			})
		}
	}
	if d, err := Open(filepath.Join(t.TempDir(), "x"), config.Config{Seed: 1}, Place{}, false); err == nil || d != nil {
		t.Error("a config without a format was written")
	}
}

// path0 stands for the run's path in the texts of TestOpenRefuses.
const path0 = "<path>"

func TestCreateWhereNothingCanBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	for _, path := range []string{file, filepath.Join(file, "run")} {
		fatal.Says(t, fatal.Err(Open(path, newSettings(1), Place{}, false)), file)
	}
	if os.Getuid() == 0 {
		t.Log("permissions are not tested: root may write everywhere")
		return
	}
	dir := t.TempDir()
	fatal.If(t, os.Chmod(dir, 0o555))
	fatal.Says(t, fatal.Err(Open(filepath.Join(dir, "run"), newSettings(1), Place{}, false)), dir)
}

func TestAppendToFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil || runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full")
	}
	d := must[*Dir](t)(Open(t.TempDir(), newSettings(1), Place{}, false))
	defer d.Close()
	for _, name := range []string{RecordsFile, QueriesFile} {
		fatal.If(t, os.Symlink("/dev/full", d.File(name)))
	}
	fatal.Says(t, d.AppendRecord(sample(0, 12, 4, 6, 7)), "no space left")
	fatal.Says(t, d.AppendQueries([]Query{{ID: "a"}}), "no space left")
}

func TestTruncateRefusesLoss(t *testing.T) {
	d := must[*Dir](t)(Open(t.TempDir(), newSettings(1), Place{}, false))
	defer d.Close()
	if err := d.Truncate(Lengths{}); err != nil {
		t.Errorf("nothing to take back: %v", err)
	}
	if err := d.Truncate(Lengths{Records: 10}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("records are gone: %v", err)
	}
	fatal.If(t, d.AppendRecord(sample(0, 12, 4, 6, 7)))
	fatal.Says(t, d.Truncate(Lengths{Records: 10000}), "records.jsonl has")
	if err := d.Truncate(Lengths{}); err != nil || get(t, d.File(RecordsFile)) != "" {
		t.Errorf("taking everything back: %v", err)
	}
}

// A run with a strategy that the program registered has its scores, unless an older version began the file.
func TestOwnScores(t *testing.T) {
	v, nan := -0.25, math.NaN()
	queries := []Query{{ID: "a"}, {Round: 1, ID: "b", Score: &v}, {Round: 1, ID: "c", Scores: &Scores{Su: 1, R: 2}, Score: &v}}
	c := newSettings(1)
	c.Exploration.StrategyCode = "0123456789abcdef"
	for name, old := range map[string]string{"new": "", "begun": strings.Join(queryHead, ",") + "\n0,z,,,,,,,,,\n"} {
		d := must[*Dir](t)(Open(t.TempDir(), c, Place{}, false))
		defer d.Close()
		if old != "" {
			put(t, d.File(QueriesFile), old)
		}
		fatal.If(t, errors.Join(d.AppendQueries(queries[:1]), d.AppendQueries(queries[1:])))
		want := strings.Join(queryHead, ",") + ",score\n0,a,,,,,,,,,,\n1,b,,,,,,,,,,-0.25\n1,c,,,1,0,0,0,0,0,2,-0.25\n"
		if old != "" {
			want = old + "0,a,,,,,,,,,\n1,b,,,,,,,,,\n1,c,,,1,0,0,0,0,0,2\n"
		}
		if got := get(t, d.File(QueriesFile)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		if got, err := ReadQueries(d.FS(), QueriesFile); old == "" && !reflect.DeepEqual(got, queries) || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		fatal.Says(t, d.AppendQueries([]Query{{ID: "a", Score: &nan}}), "score is NaN")
	}
	path := filepath.Join(t.TempDir(), ScoresFile)
	for _, list := range [][]Candidate{{{ID: "a", Su: 1, Score: &v}}, {{ID: "a", Sd: 2}}} {
		fatal.If(t, WriteScores(path, list))
		if got, err := parseScores(ScoresFile, []byte(get(t, path))); err != nil || !reflect.DeepEqual(got, list) {
			t.Errorf("scores %+v, %v, want %+v", got, err, list)
		}
	}
}

func TestQueriesRefuse(t *testing.T) {
	d := must[*Dir](t)(Open(t.TempDir(), newSettings(1), Place{}, false))
	defer d.Close()
	nan := 0.0
	nan /= nan
	for _, q := range []Query{{Round: -1, ID: "a"}, {}, {Round: 1, ID: "a", Scores: &Scores{Sd: nan}}} {
		if err := d.AppendQueries([]Query{q}); err == nil {
			t.Errorf("%+v was written", q)
		}
	}
	if got := names(t, d.path); !slices.Equal(got, []string{ConfigFile}) {
		t.Errorf("refused queries left %q", got)
	}
	// Names with separators and quotes survive.
	odd := []Query{{0, "a,b/\"c\"\n.png", "d,", "", nil, nil}, {0, "=s/1.png", "'=s", "+c", nil, nil}}
	fatal.If(t, d.AppendQueries(odd))
	if got := must[[]Query](t)(ReadQueries(d.FS(), QueriesFile)); !reflect.DeepEqual(got, odd) {
		t.Errorf("got %+v, want %+v", got, odd)
	}
	if text := get(t, d.File(QueriesFile)); strings.Contains(text, ",=") || strings.Contains(text, ",+") { // a spreadsheet computes them
		t.Errorf("written as\n%s", text)
	}
	head := strings.Join(queryHead, ",") + "\n"
	scored := strings.Join(queryHead, ",") + ",score\n"
	for _, tt := range []struct{ text, want string }{
		{head + "0,a,b,c,,,,,,,", "queries.csv:2: half-written line"},
		{"", "queries.csv:1: half-written line"},
		{"round,id\n", "queries.csv:1: wrong number of fields"},
		{strings.Replace(head, "s_u", "su", 1), "queries.csv:1: head is"},
		{head + "0,a,b,c,,,,,,\n", "queries.csv:2: wrong number of fields"},
		{head + "0,a,b,c,,,,,,,\nx,a,b,c,,,,,,,\n", `queries.csv:3: round is "x"`},
		{head + "1,a,b,c,0.5,,,,,,\n", `queries.csv:2: s_r is ""`},
		{head + "1,a,b,c,0.5,1,NaN,0,0,0,1\n", `queries.csv:2: s_d is "NaN"`},
		{head + "1,a,b,c,0.5,1,1,-1,0,0,1\n", `queries.csv:2: rank_u is "-1"`},
		{head + "1,,b,c,,,,,,,\n", `queries.csv:2: id is ""`},
		{scored + "1,a,b,c,,,,,,,,Inf\n", `queries.csv:2: score is "Inf"`},
		{scored + "1,a,b,c,,,,,,,\n", "queries.csv:2: wrong number of fields"},
	} {
		put(t, d.File(QueriesFile), tt.text)
		if _, err := ReadQueries(d.FS(), QueriesFile); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: error is %v, want it to begin with %q", tt.text, err, tt.want)
		}
	}
}
