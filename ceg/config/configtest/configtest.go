// Package configtest builds configs for tests.
package configtest

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// New returns the config of a method for a data set and a target domain. pairs alternates paths
// and values of other settings. A conflict ends the test.
func New(t testing.TB, dataset, target, method string, preset config.Preset, pairs ...any) config.Config {
	t.Helper()
	set := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		set[pairs[i].(string)] = pairs[i+1]
	}
	return fatal.Get(config.Resolve(config.Spec{Dataset: dataset, Target: target, Method: method, Preset: preset, Set: set}))(t)
}
