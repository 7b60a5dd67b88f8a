package imported

import (
	"fmt"
	"math"
	"slices"
)

// slice turns what is read backwards, of which onnx-gomlx makes something else: an axis as a whole,
// as PyTorch writes padding.
func (m *mender) slice(n *node) error {
	var v [4][]int64 // starts, ends, axes, steps
	for i := range v {
		v[i] = m.constants(n.in[1+i])
	}
	steps := v[3]
	switch {
	case steps != nil && !slices.ContainsFunc(steps, func(s int64) bool { return s < 0 }):
		return nil
	case len(steps) != 1 || steps[0] != -1 || len(v[0]) != 1 || len(v[1]) != 1 || len(v[2]) != 1 || v[0][0] != -1 || v[1][0] > math.MinInt32:
		return fmt.Errorf("a Slice with steps %v is not taken, only steps above 0, and a whole axis backwards", steps)
	}
	axis := attr{name: "axis", kind: intAttr, i: v[2][0]}
	length := m.op("Gather", m.op("Shape", n.in[0]), m.integers(v[2]))
	n.become("Gather", n.in[0], m.count(length, true))
	n.attrs = []attr{axis}
	return nil
}

// window mends what looks at windows of maps.
func (m *mender) window(n *node) error {
	switch n.text("auto_pad", "NOTSET") {
	case "NOTSET":
	case "VALID":
		n.drop("pads")
	default:
		return fmt.Errorf("auto_pad %s is not taken: export it with pads", n.text("auto_pad", ""))
	}
	n.drop("auto_pad")
	if n.op == "Conv" {
		return nil
	}
	if a := n.drop("dilations"); a != nil && slices.ContainsFunc(a.ints, func(d int64) bool { return d != 1 }) {
		return fmt.Errorf("dilations %v are not taken", a.ints)
	}
	kernel := n.get("kernel_shape")
	if kernel == nil {
		return fmt.Errorf("it has no kernel_shape")
	}
	if n.get("strides") == nil {
		n.attrs = append(n.attrs, attr{name: "strides", kind: intsAttr, ints: slices.Repeat([]int64{1}, len(kernel.ints))})
	}
	if n.op == "AveragePool" {
		include := n.drop("count_include_pad")
		if include == nil || include.i == 0 {
			return nil
		}
		if pads := n.drop("pads"); pads != nil && slices.ContainsFunc(pads.ints, func(p int64) bool { return p != 0 }) {
			half := len(pads.ints) / 2
			all := slices.Concat([]int64{0, 0}, pads.ints[:half], []int64{0, 0}, pads.ints[half:])
			n.in[0] = m.op("Pad", n.in[0], m.integers(all), m.number(0))
		}
	}
	return nil
}

// resize refuses what would be computed differently, but for a cubic one, which
// [Network.resizings] writes, and makes scales constants.
func (m *mender) resize(n *node) error {
	mode, place := n.text("mode", "nearest"), n.text("coordinate_transformation_mode", "half_pixel")
	ok := mode == "cubic" && slices.Contains(placements, place) || mode == "linear" && slices.Contains([]string{"half_pixel", "pytorch_half_pixel", "align_corners"}, place) ||
		mode == "nearest" && place == "asymmetric" && n.text("nearest_mode", "round_prefer_floor") == "floor"
	if !ok || n.int("antialias", 0) != 0 || n.get("axes") != nil || m.opset < 11 {
		return fmt.Errorf("a Resize of mode %s (%s) is not taken, only linear, nearest and cubic ones: export the network for one image size, where it is a constant", mode, place)
	}
	for i, s := range n.in {
		at := slices.IndexFunc(m.weights, func(t *tensor) bool { return t.name == s })
		if i > 0 && at >= 0 && !m.weights[at].outside && m.weights[at].kind == float32Type {
			n.in[i] = m.constant(m.weights[at])
		}
	}
	return nil
}
