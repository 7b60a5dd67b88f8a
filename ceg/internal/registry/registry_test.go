package registry

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestNames(t *testing.T) {
	Reserve("query strategy", "entropy")
	fatal.If(t, Add("query strategy", "margin-density2"))
	for name, want := range map[string]string{
		"entropy": `objective "entropy": the name is taken by a built-in query strategy`, "margin-density2": "taken by a registered query strategy",
		"": "a name has", "Mine": "a name has", "my_own": "a name has", "-x": "a name has", "x-": "a name has", "a--b": "a name has", "2nd": "a name has", "a+b": "a name has",
		"mine-ce": "cannot end with -ce", "ledg": "taken by a preset", "none": "taken by a setting", strings.Repeat("x", 41): "41 characters, want at most 40",
	} {
		fatal.Says(t, Add("objective", name), want)
	}
}
