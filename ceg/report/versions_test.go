package report

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
)

func TestVersionsAreNotedWhereTheyDiffer(t *testing.T) {
	outcome := func(v string) *result.Run {
		return &result.Run{Result: &result.Result{Versions: result.Versions{GoMLX: v}}}
	}
	names := []string{"ceg", "bvsb", "none", "uniform"}
	v := versions{}
	v.add("ceg", outcome("v2"))
	v.add("uniform", outcome("v2"))
	if got := v.note(names); got != "" {
		t.Errorf("one version is noted: %q", got)
	}
	v.add("uniform", outcome("v1"))
	v.add("bvsb", outcome("v2"))
	if got, want := v.note(names), "By several versions of GoMLX: v2: ceg, bvsb; v1 and v2: uniform."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := v.note([]string{"uniform"}), "By several versions of GoMLX: v1 and v2: uniform."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
