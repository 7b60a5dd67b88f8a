package imported

import "testing"

// The type of a value is found through what makes it; a circle and a node without inputs are float32.
func TestKind(t *testing.T) {
	m := &mender{content: &content{weights: []*tensor{{name: "w", kind: int64Type}}, nodes: []*node{
		{op: "Relu", in: []string{"b"}, out: []string{"a"}}, {op: "Relu", in: []string{"a"}, out: []string{"b"}},
		{op: "Where", in: []string{"w"}, out: []string{"short"}}, {op: "Where", in: []string{"a", "w", "a"}, out: []string{"chosen"}},
		{op: "Less", in: []string{"a", "b"}, out: []string{"less"}}, {op: "Reshape", in: []string{"less"}, out: []string{"shaped"}},
	}}}
	for name, want := range map[string]int{"a": float32Type, "b": float32Type, "short": float32Type, "chosen": int64Type, "shaped": boolType, "w": int64Type, "images": float32Type} {
		if got := m.kind(name); got != want {
			t.Errorf("%s is of type %d, want %d", name, got, want)
		}
	}
}
