package weights

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// small is a network of three tensors and a head with the given classes.
func small(classes int) []Spec {
	return []Spec{
		{"conv1.weight", []int{2, 1, 1, 1}}, {"bn1.bias", []int{2}}, {"bn1.running_var", []int{2}},
		{"fc.weight", []int{classes, 2}}, {"fc.bias", []int{classes}},
	}
}

// filled is a state dict for the specs, with names changed by rename.
func filled(specs []Spec, rename func(string) string) StateDict {
	var sd StateDict
	next := float32(0)
	for _, s := range specs {
		n := 1
		for _, d := range s.Shape {
			n *= d
		}
		v := make([]float32, n)
		for i := range v {
			next++
			v[i] = next
		}
		sd = append(sd, FromFloat32(rename(s.Name), s.Shape, v))
	}
	return append(sd, Tensor{Name: rename("bn1.num_batches_tracked"), DType: safetensors.Int64, Shape: []int{}, Data: make([]byte, 8)})
}

func same(s string) string { return s }

func TestAssign(t *testing.T) {
	body := map[string][]float32{"conv1.weight": {1, 2}, "bn1.bias": {3, 4}, "bn1.running_var": {5, 6}}
	with := func(head map[string][]float32) map[string][]float32 {
		out := map[string][]float32{}
		for _, m := range []map[string][]float32{body, head} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	head := map[string][]float32{"fc.weight": {7, 8}, "fc.bias": {9}}
	for _, c := range []struct {
		name string
		want []Spec
		sd   StateDict
		out  map[string][]float32
		head bool
		note string // of the only note; "" for none
	}{
		{"as wanted", small(1), filled(small(1), same), with(head), true, ""},
		{"no head wanted", small(1)[:3], filled(small(1), same), body, false,
			"classifier head dropped: fc.weight [1 2], fc.bias [1]"},
		{"other classes", small(1), filled(small(3), same), body, false,
			"classifier head dropped: got fc.weight [3 2], fc.bias [3], want fc.weight [1 2], fc.bias [1]"},
		{"no head in the file", small(1), filled(small(1)[:3], same), body, false, "no classifier head"},
		{"head without bias", small(1), filled(small(1)[:4], same), body, false, "classifier head dropped: got fc.weight [1 2], want"},
		{"timm head", small(1), filled(small(1), func(s string) string {
			return strings.Replace(s, "fc.", "head.fc.", 1)
		}), with(head), true, ""},
		{"classifier", small(1), filled(small(1), func(s string) string {
			return strings.Replace(s, "fc.", "classifier.", 1)
		}), with(head), true, ""},
		{"DataParallel", small(1), filled(small(1), func(s string) string { return "module." + s }), with(head), true,
			`prefix "module." taken off every name`},
		{"compiled and wrapped", small(1), filled(small(1), func(s string) string { return "module._orig_mod.model." + s }), with(head), true,
			`prefix "module._orig_mod.model." taken off every name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.sd)
			out, report := fatal.Get2(Assign(c.want, c.sd))(t)
			if !reflect.DeepEqual(out, c.out) {
				t.Errorf("got %v, want %v", out, c.out)
			}
			if report.Loaded != len(c.out) || report.HeadLoaded != c.head {
				t.Errorf("report %+v", report)
			}
			if notes := strings.Join(report.Notes, "\n"); c.note == "" && notes != "" || !strings.Contains(notes, c.note) || len(report.Notes) > 1 {
				t.Errorf("notes %q, want one with %q", report.Notes, c.note)
			}
			if !reflect.DeepEqual(before, c.sd) {
				t.Error("the state dict was changed")
			}
		})
	}
}

func TestAssignConverts(t *testing.T) {
	sd := StateDict{
		{Name: "a", DType: safetensors.Float16, Shape: []int{1}, Data: []byte{0, 0x3e}},
		{Name: "b", DType: safetensors.BFloat16, Shape: []int{1}, Data: []byte{0xc0, 0x3f}},
	}
	out, report, err := Assign([]Spec{{"a", []int{1}}, {"b", []int{1}}}, sd)
	if err != nil || out["a"][0] != 1.5 || out["b"][0] != 1.5 {
		t.Errorf("got %v, %v", out, err)
	}
	if want := []string{"stored as bfloat16 and float16, converted to float32"}; !slices.Equal(report.Notes, want) {
		t.Errorf("notes %q, want %q", report.Notes, want)
	}
}

// TestAssignListsEverything: one error with all there is to say.
func TestAssignListsEverything(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	want := []Spec{
		{"conv1.weight", []int{2, 1, 1, 1}}, {"gone.weight", []int{4, 2}}, {"gone.bias", []int{4}},
		{"turned", []int{2, 3}}, {"nan", []int{3}}, {"inf", []int{1}}, {"ints", []int{1}}, {"big", []int{1}}, {"bn.running_var", []int{2}},
	}
	sd := StateDict{
		FromFloat32("conv1.weight", []int{2, 1, 1, 1}, []float32{1, 2}),
		FromFloat32("turned", []int{3, 2}, make([]float32, 6)),
		FromFloat32("nan", []int{3}, []float32{0, 0, nan}),
		FromFloat32("inf", []int{1}, []float32{inf}),
		{Name: "ints", DType: safetensors.Int64, Shape: []int{1}, Data: make([]byte, 8)},
		{Name: "big", DType: safetensors.Float64, Shape: []int{1}, Data: []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x7f}},
		FromFloat32("bn.running_var", []int{2}, []float32{1, -0.5}),
		FromFloat32("stray", []int{7}, make([]float32, 7)),
		FromFloat32("module.stray", nil, make([]float32, 1)),
	}
	out, report, err := Assign(want, sd)
	if out != nil || !reflect.DeepEqual(report, Report{}) {
		t.Errorf("a result beside the error: %v, %+v", out, report)
	}
	var e *AssignError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an AssignError", err)
	}
	wantErr := AssignError{
		Missing:    []string{"gone.weight [4 2]", "gone.bias [4]"},
		Unexpected: []string{"stray [7]", "module.stray []"},
		Shape:      []string{"turned: got [3 2], want [2 3]"},
		Values: []string{
			"nan: element 2 is NaN, want a finite number", "inf: element 0 is +Inf, want a finite number",
			"ints: got element type I64, want floating point", "big: element 0 is +Inf, want a finite number",
			"bn.running_var: element 1 is -0.5, want a variance of at least 0",
		},
	}
	if !reflect.DeepEqual(*e, wantErr) {
		t.Errorf("got %+v\nwant %+v", *e, wantErr)
	}
	for _, part := range []string{"missing (2): gone.weight [4 2], gone.bias [4];", "unexpected (2): stray [7], ", "wrong shape (1): turned", "bad values (5): nan"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not contain %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Error("the error has several lines")
	}
}

func TestAssignEmpty(t *testing.T) {
	fatal.Says(t, fatal.Err2(Assign(small(1), nil)), "conv1.weight [2 1 1 1]")
	if out, _, err := Assign(nil, nil); err != nil || len(out) != 0 {
		t.Errorf("got %v, %v", out, err)
	}
}
