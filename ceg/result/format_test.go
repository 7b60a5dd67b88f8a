package result

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Settings of format 1 get the values that its runs had. In the current format all settings must
// be present, and no others.
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

// Results and plans of older formats are not read, and say which are.
func TestOldestFormat(t *testing.T) {
	data, err := sampleResult(t).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"4": "", "3": "r: it has format 3; this version of ledg reads format 4", "9": "r: it has format 9; this version of ledg reads format 4",
	} {
		old := strings.Replace(string(data), `"format": 4`, `"format": `+format, 1)
		if _, err := ReadResult(fstest.MapFS{"r": {Data: []byte(old)}}, "r"); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("format %s: %v, want %q", format, err, want)
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
