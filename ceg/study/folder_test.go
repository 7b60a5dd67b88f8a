package study

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A study mixes commits only with the option, and then its tables say so.
func TestStudyOfOneCommit(t *testing.T) {
	const one, two = "111111111111", "222222222222"
	dir := t.TempDir()
	seeds := func(list string) *Plan {
		return plan(t, parse(t, "name: s\ndataset: glyphs\ntargets: [photo]\nmethods: [ceg, uniform]\nseeds: "+list))
	}
	run := func(p *Plan, o Options, commit string) error {
		t.Helper()
		o.Dir, o.Runner = dir, studytest.Fake{Commit: commit}.Run
		if commit == "fail" {
			o.Runner = studytest.Fake{Fail: func(run.Config, int) error { return errors.New("no power") }}.Run
		}
		_, err := p.Run(t.Context(), o)
		return err
	}
	refused := func(err error, wants ...string) {
		t.Helper()
		for _, want := range append(wants, "runs of the study s are by commit") {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v, want %q", err, want)
			}
		}
	}
	revisions := func() string {
		t.Helper()
		list := fatal.Get(result.ReadPlans(dir, "s"))(t)
		return strings.Join(list[0].Revisions, " ")
	}
	note := func() string {
		t.Helper()
		f := fatal.Get(report.Open(dir))(t)
		tables := fatal.Get(f.Table("methods", report.TableOptions{}))(t)
		var b bytes.Buffer
		fatal.If(t, tables[0].Write(&b, result.Text))
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "commit") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}

	// Nothing but attempts that failed: the plan knows who has begun.
	fatal.If(t, run(seeds("[1]"), Options{Revision: one}, "fail"))
	refused(run(seeds("[1]"), Options{Revision: two}, two), one, two)
	if err := run(seeds("[1]"), Options{Revision: one}, one); err != nil || note() != "" {
		t.Errorf("%v, note %q", err, note())
	}
	refused(run(seeds("[1, 2]"), Options{Revision: one + result.DirtyMark}, one), one, one+"+dirty")
	refused(run(seeds("[1, 2]"), Options{}, ""), one, "a build that does not name its commit")
	if got := revisions(); got != one {
		t.Errorf("revisions are %q, want %q", got, one)
	}
	fatal.If(t, run(seeds("[1, 2]"), Options{Revision: two, MixCommits: true}, two))
	if got, want := revisions(), one+" "+two; got != want {
		t.Errorf("revisions are %q, want %q", got, want)
	}
	if got, want := note(), "Computed by several commits of ledg: "+one+" and "+two+": Rand+CEG/up (ceg), Rand+CEG/up (uniform)."; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
	// Another study that shares its runs finds out by the runs.
	other := seeds("[1, 2]")
	other.Name = "t"
	err := run(other, Options{Revision: two}, two)
	if err == nil || !strings.Contains(err.Error(), "runs of the study t are by commit "+one+", this is "+two) {
		t.Errorf("another study: %v", err)
	}
}

// A study does not take over a finished run that has used other data, whichever it is.
func TestStudyOfOtherData(t *testing.T) {
	p := plan(t, parse(t, "name: s\ndataset: glyphs\ntargets: [photo]\nmethods: [ceg, uniform]\nseeds: [1]"))
	o := Options{Dir: t.TempDir(), Runner: studytest.Fake{}.Run}
	fatal.Get(p.Run(t.Context(), o))(t)
	file := filepath.Join(o.Dir, p.Runs[1].Dir, result.ResultFile)
	data := fatal.Get(os.ReadFile(file))(t)
	data = bytes.Replace(data, []byte(`"images": ""`), []byte(`"images": "0123"`), 1)
	fatal.If(t, os.WriteFile(file, data, 0o666))
	fatal.Says(t, fatal.Err(p.Run(t.Context(), o)), p.Runs[1].Dir+": the run began with other images")
}

// Finished runs stay without their data, and the report says so; data that is not where it should be is
// an error.
func TestStudyWithoutData(t *testing.T) {
	p := plan(t, parse(t, "name: s\ndataset: features\ntargets: [photo]\nmethods: [ceg]\nseeds: [1]"))
	o := Options{Dir: t.TempDir(), Runner: studytest.Fake{}.Run, Roots: map[string]string{"features": "nowhere.npz"}}
	if r, err := p.Run(t.Context(), o); err != nil || len(r.Finished) != 1 || r.Unchecked != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	fatal.Says(t, fatal.Err(p.Run(t.Context(), o)), "nowhere.npz")
	o.Roots = nil
	if r, err := p.Run(t.Context(), o); err != nil || r.Repeated != 1 || len(r.Unchecked) != 1 || r.Unchecked[0] != "features" {
		t.Errorf("%+v, %v, want one run that was not checked", r, err)
	}
}
