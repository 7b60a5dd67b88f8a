package onnx_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The tests read files with what follows, which shares nothing with the writer but
// the numbers of onnx.proto's fields, and compute them in float64 in the plainest
// way. So they need no other program.

// fields are the fields of a message: varints and fixed32 as numbers, others as
// bytes.
type fields map[protowire.Number][]any

func parse(t testing.TB, b []byte) fields {
	t.Helper()
	m := fields{}
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("a damaged tag: %v", protowire.ParseError(n))
		}
		b = b[n:]
		var v any
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			v, n = protowire.ConsumeFixed32(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d is of type %d", num, kind)
		}
		if n < 0 {
			t.Fatalf("field %d is damaged: %v", num, protowire.ParseError(n))
		}
		m[num] = append(m[num], v)
		b = b[n:]
	}
	return m
}

func (m fields) text(i protowire.Number) string {
	if len(m[i]) == 0 {
		return ""
	}
	return string(m[i][0].([]byte))
}

func (m fields) int(i protowire.Number) int {
	if len(m[i]) == 0 {
		return 0
	}
	return int(m[i][0].(uint64))
}

func (m fields) each(t testing.TB, i protowire.Number, f func(fields)) {
	for _, v := range m[i] {
		f(parse(t, v.([]byte)))
	}
}

// array is [batch, channels, height, width], or fewer axes.
type array struct {
	shape []int
	v     []float64
}

func zeros(shape ...int) array {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return array{shape, make([]float64, n)}
}

type operation struct {
	op      string
	in      []string
	out     string
	ints    map[string][]int
	epsilon float64
}

// file is a parsed file.
type file struct {
	ir, opset       int
	nodes           []operation
	weights         map[string]array
	inputs, outputs []string // "name type [dims]"
	metadata        map[string]string
}

func read(t testing.TB, b []byte) file {
	t.Helper()
	m := parse(t, b)
	f := file{ir: m.int(1), weights: map[string]array{}, metadata: map[string]string{}}
	m.each(t, 8, func(m fields) { f.opset = m.int(2) })
	m.each(t, 14, func(m fields) { f.metadata[m.text(1)] = m.text(2) })
	m.each(t, 7, func(g fields) {
		g.each(t, 1, func(m fields) {
			n := operation{op: m.text(4), out: m.text(2), ints: map[string][]int{}}
			for _, v := range m[1] {
				n.in = append(n.in, string(v.([]byte)))
			}
			m.each(t, 5, func(a fields) {
				switch a.int(20) {
				case 1:
					n.epsilon = float64(math.Float32frombits(a[2][0].(uint32)))
				case 2:
					n.ints[a.text(1)] = []int{a.int(3)}
				case 7:
					for _, v := range a[8] {
						n.ints[a.text(1)] = append(n.ints[a.text(1)], int(v.(uint64)))
					}
				default:
					t.Fatalf("attribute %s is of type %d", a.text(1), a.int(20))
				}
			})
			f.nodes = append(f.nodes, n)
		})
		g.each(t, 5, func(m fields) {
			var shape []int
			for _, d := range m[1] {
				shape = append(shape, int(d.(uint64)))
			}
			a, raw := zeros(shape...), m[9][0].([]byte)
			size := map[int]int{1: 4, 7: 8}[m.int(2)]
			if size == 0 || len(raw) != size*len(a.v) {
				t.Fatalf("tensor %s of type %d and shape %v has %d bytes", m.text(8), m.int(2), shape, len(raw))
			}
			for i := range a.v {
				if a.v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))); size == 8 {
					a.v[i] = float64(binary.LittleEndian.Uint64(raw[8*i:]))
				}
			}
			f.weights[m.text(8)] = a
		})
		port := func(list *[]string) func(fields) {
			return func(m fields) {
				s := m.text(1)
				m.each(t, 2, func(m fields) {
					m.each(t, 1, func(m fields) {
						s += fmt.Sprint(" ", m.int(1), " [")
						m.each(t, 2, func(m fields) {
							m.each(t, 1, func(d fields) { s += fmt.Sprint(" ", d.text(2), d.int(1)) })
						})
					})
				})
				*list = append(*list, s+" ]")
			}
		}
		g.each(t, 11, port(&f.inputs))
		g.each(t, 12, port(&f.outputs))
	})
	return f
}

// run computes every node and returns all values.
func (f file) run(t testing.TB, image array) map[string]array {
	t.Helper()
	at := map[string]array{"image": image}
	for name, w := range f.weights {
		at[name] = w
	}
	for _, n := range f.nodes {
		in := make([]array, len(n.in))
		for i, name := range n.in {
			a, ok := at[name]
			if !ok {
				t.Fatalf("node %s reads %s, which nothing before it makes", n.out, name)
			}
			in[i] = a
		}
		if _, ok := at[n.out]; ok {
			t.Fatalf("two values are called %s", n.out)
		}
		at[n.out] = n.compute(t, in)
	}
	return at
}

func (n operation) compute(t testing.TB, in []array) array {
	x := in[0]
	switch n.op {
	case "Cast":
		return x
	case "Transpose":
		y := zeros(x.shape[0], x.shape[3], x.shape[1], x.shape[2])
		if fmt.Sprint(n.ints["perm"]) != "[0 3 1 2]" {
			t.Fatalf("perm %v", n.ints["perm"])
		}
		h, w, c := x.shape[1], x.shape[2], x.shape[3]
		for i := range y.v {
			b, k, p := i/(c*h*w), i/(h*w)%c, i%(h*w)
			y.v[i] = x.v[(b*h*w+p)*c+k]
		}
		return y
	case "Mul", "Add":
		y := zeros(x.shape...)
		for i, v := range x.v {
			o := in[1].v[0]
			switch {
			case len(in[1].v) == len(x.v):
				o = in[1].v[i]
			case len(in[1].v) > 1:
				o = in[1].v[i/(x.shape[2]*x.shape[3])%x.shape[1]]
			}
			if y.v[i] = v * o; n.op == "Add" {
				y.v[i] = v + o
			}
		}
		return y
	case "Sub":
		y := zeros(x.shape...)
		for i, v := range x.v {
			y.v[i] = v - in[1].v[i%len(in[1].v)]
		}
		return y
	case "Identity":
		return x
	case "Abs", "Sqrt", "Sign":
		y := zeros(x.shape...)
		for i, v := range x.v {
			switch {
			case n.op == "Abs":
				y.v[i] = math.Abs(v)
			case n.op == "Sqrt":
				y.v[i] = math.Sqrt(v)
			case v != 0:
				y.v[i] = math.Copysign(1, v)
			}
		}
		return y
	case "Relu":
		y := zeros(x.shape...)
		for i, v := range x.v {
			y.v[i] = max(v, 0)
		}
		return y
	case "BatchNormalization":
		y := zeros(x.shape...)
		for i, v := range x.v {
			c := i / (x.shape[2] * x.shape[3]) % x.shape[1]
			y.v[i] = (v-in[3].v[c])/math.Sqrt(in[4].v[c]+n.epsilon)*in[1].v[c] + in[2].v[c]
		}
		return y
	case "Conv", "MaxPool":
		return n.slide(in)
	case "GlobalAveragePool":
		y := zeros(x.shape[0], x.shape[1], 1, 1)
		area := x.shape[2] * x.shape[3]
		for i, v := range x.v {
			y.v[i/area] += v / float64(area)
		}
		return y
	case "Flatten":
		return array{[]int{x.shape[0], len(x.v) / x.shape[0]}, x.v}
	case "Gemm":
		if n.ints["transB"][0] != 1 {
			t.Fatal("Gemm without transB")
		}
		y := zeros(x.shape[0], in[1].shape[0])
		d := x.shape[1]
		for i := range y.v {
			b, o := i/y.shape[1], i%y.shape[1]
			if len(in) > 2 {
				y.v[i] = in[2].v[o]
			}
			for k := range d {
				y.v[i] += x.v[b*d+k] * in[1].v[o*d+k]
			}
		}
		return y
	case "Mean":
		y := zeros(x.shape...)
		for _, a := range in {
			for i, v := range a.v {
				y.v[i] += v / float64(len(in))
			}
		}
		return y
	case "Log":
		y := zeros(x.shape...)
		for i, v := range x.v {
			y.v[i] = math.Log(v)
		}
		return y
	case "Reshape":
		return array{[]int{x.shape[0], x.shape[1], 1, 1}, x.v}
	case "ReduceSum":
		if fmt.Sprint(in[1].v, n.ints["keepdims"]) != "[1] [1]" {
			t.Fatalf("ReduceSum over %v, %v", in[1].v, n.ints)
		}
		y := zeros(x.shape[0], 1)
		for i, v := range x.v {
			y.v[i/x.shape[1]] += v
		}
		return y
	case "Max":
		y := zeros(x.shape...)
		for i, v := range x.v {
			y.v[i] = max(v, in[1].v[0])
		}
		return y
	case "Div":
		y := zeros(x.shape...)
		for i, v := range x.v {
			y.v[i] = v / in[1].v[i/x.shape[1]]
		}
		return y
	case "Softmax":
		y := zeros(x.shape...)
		d := x.shape[1]
		for b := range x.shape[0] {
			sum := 0.0
			for k := range d {
				sum += math.Exp(x.v[b*d+k])
			}
			for k := range d {
				y.v[b*d+k] = math.Exp(x.v[b*d+k]) / sum
			}
		}
		return y
	}
	t.Fatalf("operator %s", n.op)
	return array{}
}

// slide is Conv and MaxPool.
func (n operation) slide(in []array) array {
	x := in[0]
	k, s, p := n.ints["kernel_shape"][0], n.ints["strides"][0], n.ints["pads"][0]
	h, w := x.shape[2], x.shape[3]
	out := x.shape[1]
	if n.op == "Conv" {
		out = in[1].shape[0]
	}
	y := zeros(x.shape[0], out, (h+2*p-k)/s+1, (w+2*p-k)/s+1)
	at := 0
	for b := range y.shape[0] {
		for o := range out {
			for i := range y.shape[2] {
				for j := range y.shape[3] {
					sum, most := 0.0, math.Inf(-1)
					if len(in) > 2 {
						sum = in[2].v[o]
					}
					for c := range x.shape[1] {
						if n.op == "MaxPool" && c != o {
							continue
						}
						for a := range k {
							for e := range k {
								r, q := i*s+a-p, j*s+e-p
								if r < 0 || r >= h || q < 0 || q >= w {
									continue
								}
								v := x.v[((b*x.shape[1]+c)*h+r)*w+q]
								most = max(most, v)
								if n.op == "Conv" {
									sum += v * in[1].v[((o*x.shape[1]+c)*k+a)*k+e]
								}
							}
						}
					}
					if y.v[at] = sum; n.op == "MaxPool" {
						y.v[at] = most
					}
					at++
				}
			}
		}
	}
	return y
}
