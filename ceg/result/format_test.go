package result

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A config has all settings, no others, and the present format.
func TestFormatsOfConfig(t *testing.T) {
	type config struct {
		Format  int    `json:"format"`
		Method  string `json:"method"`
		Network struct {
			Precision string `json:"precision"`
		} `json:"network"`
	}
	for text, want := range map[string]string{
		`{"format":1,"method":"m","network":{"precision":"tf32"}}`:            "",
		`{"format":1,"method":"m","network":{}}`:                              `missing field "network.precision"`,
		`{"format":1,"method":"m"}`:                                           `missing field "network"`,
		`{"format":1,"colour":1,"method":"m","network":{"precision":"tf32"}}`: `unknown field "colour"`,
		`{"format":5,"method":"m","network":{"precision":"tf32"}}`:            "it has format 5; this version of ledg reads format 1",
		`{"method":"m","network":{"precision":"tf32"}}`:                       "it has no format number",
		`[1]`: "not a JSON object",
	} {
		var c config
		err := ReadConfig(fstest.MapFS{ConfigFile: {Data: []byte(text)}}, ConfigFile, &c)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
