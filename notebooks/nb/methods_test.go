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
