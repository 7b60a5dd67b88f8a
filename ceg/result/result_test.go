package result

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func sampleResult(t *testing.T) Result {
	t.Helper()
	records := history([2]int{3, 4}, [2]int{7, 9}, [2]int{6, 8})
	choices := fatal.Get(Choose(records))(t)
	r := Result{
		Format: Format, Method: "ceg", Dataset: "glyphs", Target: "photo", Preset: "paper", Seed: 1<<64 - 1,
		Epochs: 3, Pool: 400, Budget: 20, Labels: 20, ValLabels: 8,
		Accuracy: choices,
		Versions: Versions{Ledg: "v0.1.0", Go: "go1.26", GoMLX: "v0.28.3", Compute: "v0.1.3", Backend: "go"},
	}
	r.Timing.AddRecords(records)
	return r
}

func TestResultRoundTrip(t *testing.T) {
	want := sampleResult(t)
	if want.Timing.Seconds != 4.5 || want.Timing.Wait != 0.375 {
		t.Errorf("timing is %+v, want 3 x 1.5 s and 3 x 0.125 s", want.Timing)
	}
	for _, marshal := range []func() ([]byte, error){want.JSON, want.Line} {
		data := fatal.Get(marshal())(t)
		got, err := ReadResult(fstest.MapFS{"r": {Data: data}}, "r")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	line, _ := want.Line()
	if bytes.Count(line, []byte("\n")) != 1 {
		t.Errorf("Line has line breaks: %q", line)
	}
	a := fatal.Get(want.Untimed())(t)
	later := want
	later.Timing = Timing{Seconds: 99, PeakMemoryBytes: 1}
	if b, err := later.Untimed(); err != nil || !bytes.Equal(a, b) {
		t.Errorf("Untimed depends on the timing: %v\n%s\n%s", err, a, b)
	}
}

func TestReadResultRefuses(t *testing.T) {
	r := sampleResult(t)
	data := fatal.Get(r.JSON())(t)
	text := string(data)
	for _, tt := range []struct{ name, text, want string }{
		{"other format", strings.Replace(text, `"format": 1`, `"format": 9`, 1), "r: it has format 9; this version of ledg reads format 1"},
		{"other format and fields", `{"format": 5, "x": 1}`, "r: it has format 5"},
		{"no format", `{"method":"ceg"}`, "r: it has no format number"},
		{"no object", `[]`, "r: not a JSON object with a format"},
		{"cut", text[:80], "r: not a JSON object with a format"},
		{"unknown field", strings.Replace(text, `"pool"`, `"pond": 1, "pool"`, 1), `r: unknown field "pond"`},
		{"missing field", strings.Replace(text, `"budget": 20,`, "", 1), `r: missing field "budget"`},
		{"share does not fit", strings.Replace(text, `"target_accuracy": 0.8`, `"target_accuracy": 0.81`, 1), "r: accuracy.last_epoch.target_accuracy is 0.81, want 8/10 = 0.8"},
		{"overspent", strings.Replace(text, `"labels": 20`, `"labels": 21`, 1), "r: labels is 21"},
		{"budget above the pool", strings.Replace(text, `"pool": 400`, `"pool": 19`, 1), "r: budget is 20, want at most the pool, 19"},
		{"epoch out of range", strings.Replace(text, `"epochs": 3`, `"epochs": 2`, 1), "r: accuracy.last_epoch.epoch is 2, want 0 to 1"},
	} {
		if tt.text == text {
			t.Fatalf("%s: nothing was changed", tt.name)
		}
		_, err := ReadResult(fstest.MapFS{"r": {Data: []byte(tt.text)}}, "r")
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error is %v, want it to begin with %q", tt.name, err, tt.want)
		}
	}
}

func TestResultRefusesToWrite(t *testing.T) {
	for name, change := range map[string]func(*Result){
		"no format": func(r *Result) { r.Format = 0 },
		"no target": func(r *Result) { r.Target = "" },
		"no epochs": func(r *Result) { r.Epochs = 0 },
		"no tally":  func(r *Result) { r.Accuracy.LastEpoch.Target = Tally{} },
	} {
		r := sampleResult(t)
		change(&r)
		if data, err := r.JSON(); err == nil {
			t.Errorf("%s: wrote %s", name, data)
		}
	}
}
