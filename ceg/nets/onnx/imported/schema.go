package imported

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schemas has a line for each operation of ONNX and opset that changed its signature: its name, the
// opset, the numbers of inputs and of outputs, the types of inputs (<) and outputs (>) by number or by
// name, the types that a name stands for (a bit for each of the first 16), and the attributes with
// their types; ! marks a required one. schemas.py makes it.
//
//go:embed schemas.txt
var schemas string

// newestOpset and newestFormat are the versions that schemas knows.
const newestOpset, newestFormat = 28, 14

// signature is what an operation takes from an opset on.
type signature struct {
	since    int
	in, out  [2]int // least and most
	attrs    map[string]int
	required []string
	// types are those of inputs and outputs, numbers or names; allowed are the bits of names.
	types   [2][]string
	allowed map[string]int64
}

var signatures = sync.OnceValue(func() map[string][]signature {
	m := map[string][]signature{}
	for line := range strings.Lines(schemas) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		s := signature{attrs: map[string]int{}, allowed: map[string]int64{}}
		s.since, _ = strconv.Atoi(words[1])
		for i, to := range []*[2]int{&s.in, &s.out} {
			least, most, _ := strings.Cut(words[2+i], "-")
			to[0], _ = strconv.Atoi(least)
			if to[1] = math.MaxInt; most != "" {
				to[1], _ = strconv.Atoi(most)
			}
		}
		for _, w := range words[4:] {
			if list, ok := strings.CutPrefix(w, "<"); ok {
				s.types[0] = strings.Split(list, ",")
				continue
			}
			if list, ok := strings.CutPrefix(w, ">"); ok {
				s.types[1] = strings.Split(list, ",")
				continue
			}
			if name, bits, ok := strings.Cut(w, ":"); ok {
				s.allowed[name], _ = strconv.ParseInt(bits, 16, 64)
				continue
			}
			name, kind, _ := strings.Cut(w, "=")
			s.attrs[name], _ = strconv.Atoi(strings.TrimSuffix(kind, "!"))
			if strings.HasSuffix(kind, "!") {
				s.required = append(s.required, name)
			}
		}
		m[words[0]] = append(m[words[0]], s)
	}
	return m
})

// checkSignatures refuses nodes that are no operations of an opset: ONNX Runtime does, where Go would compute something.
func checkSignatures(nodes []*node, opset int) error {
	for _, n := range nodes {
		if err := n.checkSignature(opset); err != nil {
			return n.error(err)
		}
		for _, a := range n.attrs {
			for _, g := range a.graphs {
				if err := checkSignatures(g.nodes, opset); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// signature returns that of an opset, nil for operations that ONNX does not define.
func (n *node) signature(opset int) (s *signature, err error) {
	list := signatures()[n.op]
	if n.domain != "" && n.domain != "ai.onnx" || len(list) == 0 {
		return nil, nil
	}
	for i := range list {
		if list[i].since <= opset {
			s = &list[i]
		}
	}
	switch {
	case s == nil && n.op == "LayerNormalization": // ONNX Runtime has it in each opset
		s = &list[0]
	case s == nil:
		return nil, fmt.Errorf("opset %d has no such operation, but opset %d", opset, list[0].since)
	}
	return s, nil
}

func (n *node) checkSignature(opset int) error {
	s, err := n.signature(opset)
	if s == nil {
		return err
	}
	for _, v := range []struct {
		what string
		got  int
		want [2]int
	}{{"inputs", len(n.in), s.in}, {"outputs", len(n.out), s.out}} {
		if v.got < v.want[0] || v.got > v.want[1] {
			return fmt.Errorf("it has %d %s, which opset %d has not", v.got, v.what, opset)
		}
	}
	if n.op == "BatchNormalization" && opset >= 14 && len(n.out) > 1 && n.int("training_mode", 0) == 0 {
		return fmt.Errorf("it has %d outputs in evaluation, want 1", len(n.out))
	}
	required := slices.Clone(s.required)
	for _, a := range n.attrs {
		kind, ok := s.attrs[a.name]
		if !ok {
			return fmt.Errorf("it has an attribute %q, which is none of opset %d", a.name, opset)
		}
		if kind != a.kind {
			return fmt.Errorf("its attribute %q is of type %d, want %d", a.name, a.kind, kind)
		}
		required = slices.DeleteFunc(required, func(name string) bool { return name == a.name })
	}
	if len(required) > 0 {
		return fmt.Errorf("it has no attribute %q", required[0])
	}
	return nil
}

// checkTypes checks the types of all values that are known.
func (n *Network) checkTypes() error {
	known := map[string]int{n.input.name: n.input.kind}
	for _, t := range n.graph.weights {
		known[t.name] = t.kind
	}
	for _, x := range n.graph.nodes {
		if err := x.checkTypes(n.graph.opset, known); err != nil {
			return x.error(err)
		}
	}
	return nil
}

// checkTypes checks the types of a node's inputs, and adds those of its outputs to the known ones.
func (n *node) checkTypes(opset int, known map[string]int) error {
	s, err := n.signature(opset)
	if s == nil || s.types[0] == nil && s.types[1] == nil {
		return err
	}
	bound := map[string]int{}
	for i, name := range n.in {
		kind := known[name]
		if kind == 0 || len(s.types[0]) == 0 {
			continue
		}
		of := s.types[0][min(i, len(s.types[0])-1)]
		if number, err := strconv.Atoi(of); err == nil && number != kind {
			return fmt.Errorf("%s is of type %d, want %d", name, kind, number)
		}
		if bits := s.allowed[of]; bits != 0 && kind <= 16 && bits>>kind&1 == 0 {
			return fmt.Errorf("%s is of type %d, which it does not take", name, kind)
		}
		if bound[of] != 0 && bound[of] != kind && !(in32Bits(bound[of]) && in32Bits(kind)) {
			return fmt.Errorf("its inputs are of types %d and %d", bound[of], kind)
		}
		bound[of] = kind
	}
	if n.op == "Mod" && n.int("fmod", 0) == 0 && slices.Contains([]int{float32Type, float16Type, bfloat16Type, doubleType}, bound["T"]) {
		return errors.New("floats need fmod")
	}
	for i, name := range n.out {
		if i >= len(s.types[1]) && len(s.types[1]) != 1 {
			break
		}
		of := s.types[1][min(i, len(s.types[1])-1)]
		number, err := strconv.Atoi(of)
		if known[name] = bound[of]; err == nil {
			known[name] = number
		}
	}
	switch n.op {
	case "Cast":
		known[n.out[0]] = int(n.int("to", 0))
	case "Constant", "ConstantOfShape":
		known[n.out[0]] = n.constantType()
	}
	return nil
}

// in32Bits reports whether Go computes a type in 32 bits: exporters to half precision mix the three.
func in32Bits(kind int) bool {
	return kind == float32Type || kind == float16Type || kind == bfloat16Type
}

// constantType is the type of the value of a Constant or of a ConstantOfShape, 0 if it is not known.
func (n *node) constantType() int {
	for _, a := range n.attrs {
		switch {
		case a.kind == tensorAttr && a.t != nil:
			return a.t.kind
		case a.kind == floatAttr, a.kind == floatsAttr:
			return float32Type
		case a.kind == intAttr, a.kind == intsAttr:
			return int64Type
		}
	}
	if n.op == "ConstantOfShape" {
		return float32Type
	}
	return 0
}
