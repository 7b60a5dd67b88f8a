package weights

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// Spec is a tensor of a network: its torchvision name and its shape.
type Spec struct {
	Name  string
	Shape []int
}

// Report describes the result of [Assign].
type Report struct {
	// Loaded is the number of tensors in the result.
	Loaded int
	// HeadLoaded is true if the classifier head is among them.
	HeadLoaded bool
	// Notes are short sentences for the user: a dropped head, a removed name prefix, converted
	// values.
	Notes []string
}

// wrappers are prefixes that training code puts before every name: DataParallel
// and DistributedDataParallel, torch.compile, and modules that hold the network
// in a field. They are taken off only if all tensors have them.
var wrappers = []string{"module.", "_orig_mod.", "timm_model.", "model.", "backbone.", "net."}

// headNames are the layers that hold the classifier in torchvision's and timm's
// networks and their derivatives, the network's own first.
var headNames = []string{"fc", "head.fc", "classifier", "head"}

// batchCounter ends the names of BatchNorm's step counters, which nothing here
// uses: momentum 0.1 is a constant.
const batchCounter = ".num_batches_tracked"

// Assign matches the tensors of a network with a state dict and returns their values as float32
// in C order, by the network's names. The state dict has torchvision's or timm's names (the same
// for ResNets, except the head of some timm models), or EfficientNet-PyTorch's for
// EfficientNets.
//
// A missing or unexpected tensor, another shape or element type, a value that is not finite, and
// a negative running variance are errors; the [AssignError] lists all of them. BatchNorm's
// counters (num_batches_tracked) are ignored. The linear layer fc has the number of classes as its
// size: its weight and bias may be missing in the file or in the network, or have another shape.
// They are then left out, and the report notes it. The state dict is not modified.
func Assign(want []Spec, sd StateDict) (map[string][]float32, Report, error) {
	a := assignment{got: make(map[string]Tensor, len(sd)), used: map[string]bool{}}
	a.index(sd, want)
	head := headNames[0]
	fileHead := a.matchHead(want, head)

	values := make(map[string][]float32, len(want))
	for _, w := range want {
		isHead := w.Name == head+".weight" || w.Name == head+".bias"
		name := w.Name
		if isHead {
			if !a.report.HeadLoaded {
				continue
			}
			name = fileHead + strings.TrimPrefix(w.Name, head)
		}
		a.take(w, name, values)
	}
	for _, name := range a.names {
		if !a.used[name] && !strings.HasSuffix(name, batchCounter) {
			a.fail.Unexpected = append(a.fail.Unexpected, describe(name, a.got[name]))
		}
	}
	if a.fail.any() {
		return nil, Report{}, &a.fail
	}
	if len(a.converted) > 0 {
		slices.Sort(a.converted)
		a.note("stored as %s, converted to float32", strings.Join(slices.Compact(a.converted), " and "))
	}
	return values, a.report, nil
}

// assignment is the state of one call of Assign.
type assignment struct {
	names     []string // of the file without wrappers, in order
	got       map[string]Tensor
	used      map[string]bool
	converted []string
	report    Report
	fail      AssignError
}

func (a *assignment) note(format string, args ...any) {
	a.report.Notes = append(a.report.Notes, fmt.Sprintf(format, args...))
}

// index lists the tensors by name, without the wrappers' prefixes and in timm's words.
func (a *assignment) index(sd StateDict, want []Spec) {
	names := sd.Names()
	taken := ""
	for again := len(names) > 0; again; {
		again = false
		for _, prefix := range wrappers {
			without := func(n string) bool { return !strings.HasPrefix(n, prefix) }
			if !slices.ContainsFunc(names, without) {
				for i := range names {
					names[i] = names[i][len(prefix):]
				}
				taken += prefix
				again = true
			}
		}
	}
	if taken != "" {
		a.note("prefix %q taken off every name", taken)
	}
	if timm := efficientNames(names, want); timm != nil {
		names = timm
		a.note("names of EfficientNet-PyTorch translated to timm's")
	}
	a.names = names
	for i, t := range sd {
		a.got[names[i]] = t
	}
}

// matchHead checks whether the file's classifier matches the network's and returns its name in
// the file. If it does not match, it is marked as used, that is, dropped.
func (a *assignment) matchHead(want []Spec, head string) string {
	find := func(layer string) (parts []string) {
		for _, part := range []string{".weight", ".bias"} {
			if _, ok := a.got[layer+part]; ok {
				parts = append(parts, part)
			}
		}
		return parts
	}
	i := slices.IndexFunc(headNames, func(n string) bool { return len(find(n)) > 0 })
	name := headNames[max(i, 0)]
	inFile := find(name)
	wanted, fits := 0, true
	var shapes []string
	for _, w := range want {
		if w.Name != head+".weight" && w.Name != head+".bias" {
			continue
		}
		wanted++
		shapes = append(shapes, fmt.Sprintf("%s %v", w.Name, w.Shape))
		t, ok := a.got[name+strings.TrimPrefix(w.Name, head)]
		fits = fits && ok && slices.Equal(t.Shape, w.Shape)
	}
	if wanted > 0 && fits && len(inFile) == wanted {
		a.report.HeadLoaded = true
		return name
	}
	var dropped []string
	for _, part := range inFile {
		a.used[name+part] = true
		dropped = append(dropped, describe(name+part, a.got[name+part]))
	}
	switch {
	case len(inFile) > 0 && wanted > 0:
		a.note("classifier head dropped: got %s, want %s", strings.Join(dropped, ", "), strings.Join(shapes, ", "))
	case len(inFile) > 0:
		a.note("classifier head dropped: %s", strings.Join(dropped, ", "))
	case wanted > 0:
		a.note("the file has no classifier head; it keeps its initial values")
	}
	return name
}

// take checks one tensor and stores its values.
func (a *assignment) take(w Spec, name string, values map[string][]float32) {
	t, ok := a.got[name]
	if !ok {
		a.fail.Missing = append(a.fail.Missing, fmt.Sprintf("%s %v", w.Name, w.Shape))
		return
	}
	a.used[name] = true
	if !slices.Equal(t.Shape, w.Shape) {
		a.fail.Shape = append(a.fail.Shape, fmt.Sprintf("%s: got %v, want %v", w.Name, t.Shape, w.Shape))
		return
	}
	v, err := t.Float32s()
	if err != nil {
		a.fail.Values = append(a.fail.Values, fmt.Sprintf("%s: got element type %s, want floating point", w.Name, t.DType))
		return
	}
	lowest := float32(math.Inf(-1))
	if strings.HasSuffix(w.Name, ".running_var") {
		lowest = 0
	}
	for i, x := range v {
		if x-x != 0 {
			a.fail.Values = append(a.fail.Values, fmt.Sprintf("%s: element %d is %v, want a finite number", w.Name, i, x))
			return
		}
		if x < lowest {
			a.fail.Values = append(a.fail.Values, fmt.Sprintf("%s: element %d is %v, want a variance of at least 0", w.Name, i, x))
			return
		}
	}
	switch t.DType {
	case safetensors.Float16:
		a.converted = append(a.converted, "float16")
	case safetensors.BFloat16:
		a.converted = append(a.converted, "bfloat16")
	case safetensors.Float64:
		a.converted = append(a.converted, "float64 (rounded)")
	}
	values[w.Name] = v
	a.report.Loaded++
}

func describe(name string, t Tensor) string { return fmt.Sprintf("%s %v", name, t.Shape) }
