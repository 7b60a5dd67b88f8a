package cli

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Errors name no types of Go.
func TestOneLineOfJSON(t *testing.T) {
	var in struct {
		Resize bool `json:"do_resize"`
		Size   struct {
			Height int `json:"height"`
		}
	}
	var number struct{ Height int }
	for _, c := range []struct {
		text string
		to   any
		want string
	}{
		{`{"do_resize":"yes"}`, &in, "f.json: its do_resize (string) is not taken"},
		{`{"Size":{"height":1.5}}`, &in, "f.json: its Size.height (number 1.5) is not taken"},
		{`"x"`, &number, "f.json: its value (string) is not taken"},
		{`[1]`, new(string), "f.json: its value (array) is not taken"},
	} {
		err := json.Unmarshal([]byte(c.text), c.to)
		if got := OneLine(fmt.Errorf("f.json: %w", err)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
}
