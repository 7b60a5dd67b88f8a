package result

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Settings of format 1 are read with what its runs did, those of the present format
// have to be all there, and nothing else may be.
func TestFormatsOfConfig(t *testing.T) {
	type config struct {
		Format   int    `json:"format"`
		Method   string `json:"method"`
		Protocol string `json:"protocol"`
		Network  struct {
			Weights   *string `json:"weights"`
			Precision string  `json:"precision"`
		} `json:"network"`
		Schedule struct {
			Timing      string    `json:"timing"`
			QueryShares []float64 `json:"query_shares"`
			Every       int       `json:"evaluate_every"`
			EpochOf     string    `json:"epoch_of"`
		} `json:"schedule"`
	}
	const whole = `"method":"m","protocol":"paper","network":{"weights":null,"precision":"float32"},"schedule":{"timing":"once","query_shares":[1],"evaluate_every":5,"epoch_of":"unlabelled"}`
	for text, want := range map[string]string{
		`{"format":1,"method":"m","network":{},"schedule":{}}`:                       "tf32 published 0",
		`{"format":1,"method":"m","network":{"precision":"bfloat16"},"schedule":{}}`: "bfloat16 published 0",
		`{"format":2,` + whole + `}`:                                                 "float32 once 1",
		`{"format":4,` + whole + `}`:                                                 "float32 once 1",
		`{"format":2,` + strings.Replace(whole, `"protocol":"paper",`, "", 1) + `}`:  "float32 once 1",
		`{"format":4,` + strings.Replace(whole, `"protocol":"paper",`, "", 1) + `}`:  `missing field "protocol"`,
		`{"format":1,"method":"m","network":{"colour":1},"schedule":{}}`:             `unknown field "colour"`,
		`{"format":4,"colour":1,` + whole + `}`:                                      `unknown field "colour"`,
		`{"format":2,` + strings.Replace(whole, `"timing":"once",`, "", 1) + `}`:     `missing field "schedule.timing"`,
		`{"format":1,"method":"m","schedule":{}}`:                                    `missing field "network"`,
		`{"format":5,` + whole + `}`:                                                 "it has format 5; this version of ledg reads formats 1 to 4",
		`{"format":0,` + whole + `}`:                                                 "it has format 0",
		`{` + whole + `}`:                                                            "it has no format number",
		`[1]`:                                                                        "not a JSON object",
	} {
		var c config
		err := ReadConfig(fstest.MapFS{ConfigFile: {Data: []byte(text)}}, ConfigFile, &c)
		got := strings.Join([]string{c.Network.Precision, c.Schedule.Timing, string(rune('0' + len(c.Schedule.QueryShares)))}, " ")
		if err != nil {
			got = err.Error()
		} else if c.Format != Format {
			t.Errorf("%s has format %d", text, c.Format)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Records are of the format of the config beside them.
func TestFormatsOfRecords(t *testing.T) {
	line, err := sample(0, 20, 0, 1, 1).Line()
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(line), `"query":`, `"checkpoint":0.5,"query":`, 1)
	read := func(config, records string) error {
		fsys := fstest.MapFS{RecordsFile: {Data: []byte(records)}}
		if config != "" {
			fsys[ConfigFile] = &fstest.MapFile{Data: []byte(config)}
		}
		list, _, err := ReadRecords(fsys, RecordsFile, WholeFile)
		if err == nil && len(list) != 1 {
			t.Errorf("%d records", len(list))
		}
		return err
	}
	for _, tt := range []struct{ config, records, want string }{
		{"", string(line), ""},
		{`{"format":1}`, old, ""},
		{`{"format":1}`, string(line), ""}, // a new epoch of an old run
		{`{"format":2}`, string(line), ""},
		{`{"format":2}`, old, `unknown field "checkpoint"`},
		{"", old, `unknown field "checkpoint"`},
		{`{"format":1}`, strings.Replace(old, `"epoch"`, `"era"`, 1), `unknown field "era"`},
		{`{"format":1}`, "{}" + old, "records.jsonl:1: "},
		{`{"format":1}`, strings.TrimRight(old, "}\n") + "\n", "records.jsonl:1: the JSON ends too early"},
		{`{"format":9}`, string(line), "config.json: it has format 9"},
	} {
		if err := read(tt.config, tt.records); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s: %v, want %q", tt.config, tt.records, err, tt.want)
		}
	}
}

// Settings of format 2 get the name of the objective that they had, by their method,
// and their identity stays.
func TestObjectivesByName(t *testing.T) {
	type config struct {
		Format         int    `json:"format"`
		Method         string `json:"method"`
		Protocol       string `json:"protocol"`
		Generalization struct {
			Objective    string `json:"objective"`
			StyleWeights *int   `json:"style_weights"`
			Average      string `json:"average"`
			Threshold    string `json:"threshold"`
		} `json:"generalization"`
	}
	for _, f := range []string{"1", "2"} {
		for method, want := range map[string]string{
			"uniform-ce": "erm", "ceg-ce w/o L_ac w/o L_eg": "erm", "uniform-ce all labels at once": "erm", "badge+erm": "erm",
			"fixmatch": "fixmatch", "ceg+fixmatch": "fixmatch", "ceg w/o L_ac": "ceg", "uniform": "ceg",
		} {
			old := `{"format":` + f + `,"method":"` + method + `","generalization":{"objective":""}}`
			var c config
			if err := ReadConfig(fstest.MapFS{ConfigFile: {Data: []byte(old)}}, ConfigFile, &c); err != nil || c.Generalization.Objective != want {
				t.Errorf("%s: objective %q, %v, want %s", method, c.Generalization.Objective, err, want)
			}
		}
	}
}
