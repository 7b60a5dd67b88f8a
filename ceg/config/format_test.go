package config_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestParse(t *testing.T) {
	want := configtest.New(t, "glyphs", "photo", "ceg", config.Authors)
	want.Seed = 1<<63 + 1 // no float64
	data := fatal.Get(json.Marshal(want))(t)
	if got, err := config.Parse(data); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{``, `{}`, `{"format":99}`, `[]`} {
		if _, err := config.Parse([]byte(bad)); err == nil {
			t.Errorf("%q is a config", bad)
		}
	}
}
