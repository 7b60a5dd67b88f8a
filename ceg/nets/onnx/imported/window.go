package imported

import (
	"fmt"
	"math"
	"slices"
)

// slice rewrites a Slice that reverses a whole axis, as PyTorch exports padding: onnx-gomlx
// computes it wrongly.
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
		return fmt.Errorf("a Slice with steps %v is not supported, only steps above 0, and a whole axis backwards", steps)
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
		return fmt.Errorf("auto_pad %s is not supported: export it with pads", n.text("auto_pad", ""))
	}
	n.drop("auto_pad")
	if n.op == "Conv" {
		m.apart(n)
		return nil
	}
	if a := n.drop("dilations"); a != nil && slices.ContainsFunc(a.ints, func(d int64) bool { return d != 1 }) {
		return fmt.Errorf("dilations %v are not supported", a.ints)
	}
	kernel := n.get("kernel_shape")
	if kernel == nil {
		return fmt.Errorf("it has no kernel_shape")
	}
	if n.get("strides") == nil {
		n.attrs = append(n.attrs, attr{name: "strides", kind: intsAttr, ints: slices.Repeat([]int64{1}, len(kernel.ints))})
	}
	beyond, err := n.ceil()
	if err != nil {
		return err
	}
	if n.op == "AveragePool" {
		if include := n.drop("count_include_pad"); include != nil && include.i != 0 {
			if pads := n.drop("pads"); pads != nil && slices.ContainsFunc(pads.ints, func(p int64) bool { return p != 0 }) {
				half := len(pads.ints) / 2
				all := slices.Concat([]int64{0, 0}, pads.ints[:half], []int64{0, 0}, pads.ints[half:])
				n.in[0] = m.op("Pad", n.in[0], m.integers(all), m.number(0))
			}
		}
	}
	if beyond == nil {
		return nil
	}
	if n.get("pads") == nil {
		n.attrs = append(n.attrs, attr{name: "pads", kind: intsAttr, ints: make([]int64, 2*len(beyond))})
	}
	pads := n.get("pads")
	pads.ints = slices.Clone(pads.ints)
	for i, p := range beyond {
		pads.ints[len(beyond)+i] += p
	}
	return nil
}

// ceil takes ceil_mode from a pooling, and returns how many places more it has then at the end of
// each axis, which count nowhere: with a stride less one of them, rounding down is rounding up. As
// no window may begin there, it is an error where one could.
func (n *node) ceil() ([]int64, error) {
	if a := n.drop("ceil_mode"); a == nil || a.i == 0 {
		return nil, nil
	}
	strides, kernel := n.get("strides").ints, n.get("kernel_shape").ints
	pads := n.ints("pads", 2*len(kernel), 0)
	if len(strides) != len(kernel) {
		return nil, fmt.Errorf("it has %d strides and a kernel of %d sides", len(strides), len(kernel))
	}
	beyond := make([]int64, len(kernel))
	for i, s := range strides {
		if beyond[i] = s - 1; s > 1 && kernel[i] < s+pads[len(kernel)+i] {
			return nil, fmt.Errorf("ceil_mode with a kernel of %d, a stride of %d and %d places around is not supported", kernel[i], s, pads[len(kernel)+i])
		}
	}
	return beyond, nil
}

// apart writes a convolution that has strides and dilations, which GoMLX has not (v0.28.16): it is
// computed at all places, and those at the strides are taken.
func (m *mender) apart(n *node) {
	above := func(name string) bool {
		a := n.get(name)
		return a != nil && slices.ContainsFunc(a.ints, func(v int64) bool { return v > 1 })
	}
	if !above("strides") || !above("dilations") {
		return
	}
	strides := n.drop("strides").ints
	y := m.op("Conv", n.in...)
	m.nodes[len(m.nodes)-1].attrs = n.attrs
	from, to, axes := make([]int64, len(strides)), make([]int64, len(strides)), make([]int64, len(strides))
	for i := range strides {
		to[i], axes[i] = math.MaxInt32, int64(2+i)
	}
	n.become("Slice", y, m.integers(from), m.integers(to), m.integers(axes), m.integers(strides))
}
