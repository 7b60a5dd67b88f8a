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
	v["ceg"] = append(v["ceg"], outcome("v2"))
	v["uniform"] = append(v["uniform"], outcome("v2"))
	if got := v.note(names); got != "" {
		t.Errorf("one version is noted: %q", got)
	}
	v["uniform"] = append(v["uniform"], outcome("v1"))
	v["bvsb"] = append(v["bvsb"], outcome("v2"))
	if got, want := v.note(names), "Computed by several versions of GoMLX: v2: ceg, bvsb; v1 and v2: uniform."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := v.note([]string{"uniform"}), "Computed by several versions of GoMLX: v1 and v2: uniform."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Commits are noted where they differ, or some are not known, or a build was of none.
func TestCommitsAreNotedWhereTheyDiffer(t *testing.T) {
	by := func(commit string, dirty bool, engines ...string) *result.Run {
		r := &result.Result{Versions: result.Versions{GoMLX: "v2", Commit: commit, Dirty: dirty}}
		for _, e := range engines {
			r.Engines = append(r.Engines, result.Engine{Revision: e})
		}
		return &result.Run{Result: r}
	}
	const a, b = "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"
	for _, tt := range []struct {
		runs map[string]*result.Run
		want string
	}{
		{map[string]*result.Run{"x": by("", false), "y": by("", false)}, ""},
		{map[string]*result.Run{"x": by(a, false), "y": by(a, false, a[:12])}, ""},
		{map[string]*result.Run{"x": by(a, false), "y": by("", false)}, "Computed by several commits of ledg: aaaaaaaaaaaa: x; unknown: y."},
		{map[string]*result.Run{"x": by(a, false), "y": by(b, false)}, "Computed by several commits of ledg: aaaaaaaaaaaa: x; bbbbbbbbbbbb: y."},
		{map[string]*result.Run{"x": by(a, false, b[:12], a[:12])}, "Computed by several commits of ledg: aaaaaaaaaaaa and bbbbbbbbbbbb: x."}, // resumed
		{map[string]*result.Run{"this and that": by(a, false)}, ""},
		{map[string]*result.Run{"x": by(a, true), "y": by(a, true)}, "Computed by a build with uncommitted changes: aaaaaaaaaaaa+dirty."},
		{map[string]*result.Run{"x": by(a, true), "y": by(a, false)}, "Computed by several commits of ledg: aaaaaaaaaaaa+dirty: x; aaaaaaaaaaaa: y."},
	} {
		v := versions{}
		for name, r := range tt.runs {
			v[name] = append(v[name], r)
		}
		if got := v.note([]string{"x", "y", "this and that"}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
