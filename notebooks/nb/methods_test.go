package nb

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
)

// Methods has every built-in strategy and objective, and nothing else.
func TestMethods(t *testing.T) {
	want := []string{string(config.Ledg)}
	for _, e := range active.Registry() {
		if e.Code == "" {
			want = append(want, e.Name)
		}
	}
	for _, o := range config.Objectives() {
		if o.Code == "" && config.AtOnce(o.Name) {
			want = append(want, o.Name)
		}
	}
	var got []string
	for _, v := range reflect.ValueOf(Methods).Fields() {
		got = append(got, v.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("methods %q, want %q", got, want)
	}
}

// Settings has every setting under its own name, and nothing else.
func TestSettings(t *testing.T) {
	var want, got []string
	for _, s := range config.Settings() {
		want = append(want, fieldName(s.Path)+" "+s.Path)
	}
	for field, v := range reflect.ValueOf(Settings).Fields() {
		got = append(got, field.Name+" "+v.String())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("settings %q, want %q", got, want)
	}
	if r := newRun("ceg", Set(Settings.Epochs, 7)); r.Set["schedule.epochs"] != 7 {
		t.Errorf("settings of the run: %v", r.Set)
	}
}
