package page_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/site"
)

// Every record that a page reads is the same after JSON: no field is unexported, and each, when
// it is not zero, survives. What is left out on purpose is named.
func TestRecordsSurviveJSON(t *testing.T) {
	omitted := map[string]bool{"audit.Estimate.Missed": true} // artifact.Artifact.Missed, by ID
	for _, typ := range []reflect.Type{
		reflect.TypeFor[audit.Estimate](), reflect.TypeFor[audit.Novelty](), reflect.TypeFor[artifact.Missed](), reflect.TypeFor[artifact.Seen](),
		reflect.TypeFor[calibration.Calibration](), reflect.TypeFor[site.Report](), reflect.TypeFor[site.Record](),
		reflect.TypeFor[result.Result](), reflect.TypeFor[result.Record](), reflect.TypeFor[result.Place](), reflect.TypeFor[result.Plan](), reflect.TypeFor[config.Config](),
	} {
		want, got := reflect.New(typ), reflect.New(typ)
		fill(t, want.Elem(), omitted)
		data, err := json.Marshal(want.Interface())
		if err == nil {
			err = json.Unmarshal(data, got.Interface())
		}
		if err != nil || !reflect.DeepEqual(want.Interface(), got.Interface()) {
			t.Errorf("%v: %v\n%s\nread as\n%+v", typ, err, data, got.Elem())
		}
	}
}

// fill sets every field below v to a value that is not zero, and reports unexported ones.
func fill(t *testing.T, v reflect.Value, omitted map[string]bool) {
	switch typ := v.Type(); {
	case typ == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		fill(t, v.Elem(), omitted)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(typ, 1, 1))
		fill(t, v.Index(0), omitted)
	case v.Kind() == reflect.Map:
		key, one := reflect.New(typ.Key()).Elem(), reflect.New(typ.Elem()).Elem()
		fill(t, key, omitted)
		fill(t, one, omitted)
		v.Set(reflect.MakeMap(typ))
		v.SetMapIndex(key, one)
	case v.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			switch name := typ.String() + "." + f.Name; {
			case omitted[name]:
			case !f.IsExported():
				t.Errorf("%s is lost in JSON", name)
			default:
				fill(t, v.Field(i), omitted)
			}
		}
	case v.Kind() == reflect.String:
		v.SetString("float32") // also a precision
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(3)
	case v.CanUint():
		v.SetUint(3)
	case v.CanFloat():
		v.SetFloat(0.5)
	default:
		t.Errorf("%v: unknown kind", typ)
	}
}
