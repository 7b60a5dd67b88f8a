package imported

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schemas has a line for each operation of ONNX and opset that changed its signature: its name, the opset, the numbers of
// inputs and of outputs, and its attributes with their types, of which those with ! are required. Made by schemas.py.
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
}

var signatures = sync.OnceValue(func() map[string][]signature {
	m := map[string][]signature{}
	for line := range strings.Lines(schemas) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		s := signature{attrs: map[string]int{}}
		s.since, _ = strconv.Atoi(words[1])
		for i, to := range []*[2]int{&s.in, &s.out} {
			least, most, _ := strings.Cut(words[2+i], "-")
			to[0], _ = strconv.Atoi(least)
			if to[1] = math.MaxInt; most != "" {
				to[1], _ = strconv.Atoi(most)
			}
		}
		for _, w := range words[4:] {
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

func (n *node) checkSignature(opset int) error {
	list := signatures()[n.op]
	if n.domain != "" && n.domain != "ai.onnx" || len(list) == 0 {
		return nil
	}
	var s *signature
	for i := range list {
		if list[i].since <= opset {
			s = &list[i]
		}
	}
	switch {
	case s == nil && n.op == "LayerNormalization": // ONNX Runtime has it in each opset
		s = &list[0]
	case s == nil:
		return fmt.Errorf("opset %d has no such operation, but opset %d", opset, list[0].since)
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
