package imported

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Network is an image network from an ONNX file, with one selected output.
type Network struct {
	// Path is the file, Digest its SHA-256 in hexadecimal. With external weight files it is the
	// SHA-256 of all digests, the network's first and the others by name.
	Path, Digest string
	// Size is the side of the images in the file's input shape, Batch their number; 0 for any.
	Size, Batch int
	// Output is the name of the computed value.
	Output string

	beside []string // external weight files, relative to the network's folder
	graph  *content
	input  value
	output value // as the file describes it
	last   bool  // the last axis of images has the channels
	bytes  bool  // images are bytes, whose preprocessing is inside

	later []later // what check leaves to a graph

	// The fields for onnx-gomlx, after [Network.mend].
	mended  bool
	problem *node // the first one with an unsupported operation
	softmax []*node
	// resized is the image side for which Resizes were rewritten, 0 for none. known describes
	// these Resizes by their outputs.
	resized int
	known   map[string]resizing
}

// most limits the size of a file; it is the limit of protocol buffers.
const most = 2 << 30

// Open reads an ONNX file and selects its output, any value of the graph; empty selects the only
// output. A non-empty digest must match the file's. Nodes that the output does not need are
// ignored.
func Open(path, output, digest string) (*Network, error) {
	n := &Network{Path: path}
	if err := n.open(output, digest); err != nil {
		return nil, err
	}
	return n, nil
}

func (n *Network) open(output, digest string) error {
	b, err := regular.Read(n.Path, most)
	if err != nil {
		return err
	}
	switch start := strings.ToLower(strings.TrimSpace(string(b[:min(len(b), 64)]))); {
	case strings.HasPrefix(start, "version https://git-lfs"):
		return fmt.Errorf("%s is a Git LFS pointer, not the network: run `git lfs pull` where it is from", n.Path)
	case strings.HasPrefix(start, "<!doctype html"), strings.HasPrefix(start, "<html"):
		return fmt.Errorf("%s is an HTML page, not a network: download the file itself", n.Path)
	}
	if n.graph, err = parse(b); err != nil {
		return fmt.Errorf("%s is not an ONNX network that can be read: %w", n.Path, err)
	}
	if err := n.digest(b); err != nil {
		return err
	}
	if err := n.same(digest); err != nil {
		return err
	}
	for _, step := range []func() error{func() error { return n.choose(output) }, n.prune, n.shape, n.check} {
		if err := step(); err != nil {
			return fmt.Errorf("%s: %w", n.Path, err)
		}
	}
	n.graph.standardise(n.Output)
	return nil
}

// same returns an error if the file's digest differs from an expected one; empty expects none.
func (n *Network) same(digest string) error {
	if digest != "" && digest != n.Digest {
		return fmt.Errorf("%s has changed: its sha256 was %.12s, and is %.12s now: put the network back", n.Path, digest, n.Digest)
	}
	return nil
}

// tensors returns all tensors of the file, including those in attributes.
func (g *content) tensors() []*tensor {
	list := slices.Clone(g.weights)
	for _, n := range slices.Concat(g.nodes, g.functions) {
		for _, a := range n.attrs {
			if a.t != nil {
				list = append(list, a.t)
			}
			list = append(list, a.list...)
			for _, inner := range a.graphs {
				list = append(list, inner.tensors()...)
			}
		}
	}
	return list
}

// digest computes the Digest of the file's bytes and of the external weight files, whose lengths
// it checks.
func (n *Network) digest(b []byte) error {
	sum := sha256.Sum256(b)
	n.Digest = hex.EncodeToString(sum[:])
	ends := map[string]int64{}
	for _, t := range n.graph.tensors() {
		if !t.outside {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(t.location)) {
			return fmt.Errorf("%s: weights %q are in %q, outside the network's folder, which is not allowed", n.Path, t.name, t.location)
		}
		bytes := width(t.kind) * t.count()
		if t.offset < 0 || t.length >= 0 && t.length != bytes {
			return fmt.Errorf("%s: weights %q of shape %v are %d bytes at %d of %s, want %d", n.Path, t.name, t.dims, t.length, t.offset, t.location, bytes)
		}
		ends[t.location] = max(ends[t.location], t.offset+bytes)
	}
	if len(ends) == 0 {
		return nil
	}
	root, err := os.OpenRoot(filepath.Dir(n.Path))
	if err != nil {
		return err
	}
	defer root.Close()
	all := sha256.New()
	io.WriteString(all, n.Digest)
	n.beside = slices.Sorted(maps.Keys(ends))
	for _, name := range n.beside {
		h := sha256.New()
		size, err := n.outside(root, name, func(f fs.File) (int64, error) { return io.Copy(h, f) })
		if err != nil {
			return err
		}
		if size < ends[name] {
			return fmt.Errorf("%s: %s has %d bytes, and weights up to %d are needed", n.Path, name, size, ends[name])
		}
		fmt.Fprintf(all, "%x", h.Sum(nil))
	}
	n.Digest = hex.EncodeToString(all.Sum(nil))
	return nil
}

// outside reads an external weight file in the network's folder. Links that lead out of the folder
// are refused.
func (n *Network) outside(root *os.Root, name string, read func(fs.File) (int64, error)) (int64, error) {
	f, err := regular.OpenFS(root.FS(), filepath.ToSlash(filepath.Clean(filepath.FromSlash(name))), 1<<40)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return 0, fmt.Errorf("%s: weights are in %s beside it, which cannot be read: %w", n.Path, name, err)
	}
	defer f.Close()
	size, err := read(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %s: %w", n.Path, name, err)
	}
	return size, nil
}

// choose chooses the output.
func (n *Network) choose(output string) error {
	var names []string
	for _, v := range n.graph.outputs {
		names = append(names, v.name)
	}
	if n.Output = output; output == "" {
		if len(names) != 1 {
			return fmt.Errorf("it has %d outputs, %s: choose one by its name, such as ledg embed --output %[3]s, or ledg train --set network.output=%[3]s", len(names), n.graph.describe(n.graph.outputs), names[0])
		}
		n.Output = names[0]
		return nil
	}
	if !slices.Contains(names, output) && !slices.ContainsFunc(n.graph.nodes, func(m *node) bool { return slices.Contains(m.out, output) }) {
		return fmt.Errorf("it has no output %q: its outputs are %s", output, n.graph.describe(n.graph.outputs))
	}
	return nil
}

// describe lists values with their shapes.
func (g *content) describe(list []value) string {
	var b strings.Builder
	for i, v := range list {
		if i == 8 {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(v.name)
		if v.shape {
			b.WriteString(strings.ReplaceAll(fmt.Sprint(v.dims), "-1", "?"))
		}
	}
	return b.String()
}

// needs returns the values that a node depends on, including those of graphs within it. Some may
// be computed in these graphs.
func (n *node) needs() []string {
	list := slices.Clone(n.in)
	for _, a := range n.attrs {
		for _, g := range a.graphs {
			for _, m := range g.nodes {
				list = append(list, m.needs()...)
			}
			for _, v := range g.outputs {
				list = append(list, v.name)
			}
		}
	}
	return list
}

// prune keeps only nodes that the output depends on. As the format requires, each node follows
// those that it depends on, so there is no cycle.
func (n *Network) prune() error {
	g := n.graph
	known, by := map[string]bool{"": true}, map[string]*node{}
	for _, t := range g.weights {
		known[t.name] = true
	}
	for _, v := range g.inputs {
		known[v.name] = true
	}
	for i, m := range g.nodes {
		m.name = cmp.Or(m.name, fmt.Sprintf("%s %d", m.op, i))
		for _, s := range m.in {
			if !known[s] {
				return fmt.Errorf("node %q needs %q, which no node before it makes", m.name, s)
			}
		}
		for _, s := range m.out {
			if s == "" {
				continue
			}
			if known[s] {
				return fmt.Errorf("node %q makes %q, which there is already", m.name, s)
			}
			known[s], by[s] = true, m
		}
	}
	needed, values := map[*node]bool{}, map[string]bool{}
	for todo := []string{n.Output}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if m := by[s]; m != nil && !needed[m] {
			needed[m] = true
			todo = append(todo, m.needs()...)
		}
		values[s] = true
	}
	g.nodes = slices.DeleteFunc(g.nodes, func(m *node) bool { return !needed[m] })
	g.original = slices.Clone(g.nodes)
	g.weights = slices.DeleteFunc(g.weights, func(t *tensor) bool { return !values[t.name] })
	weights := map[string]bool{}
	for _, t := range g.weights {
		weights[t.name] = true
	}
	g.inputs = slices.DeleteFunc(g.inputs, func(v value) bool { return weights[v.name] || !values[v.name] })
	for _, t := range g.tensors() {
		if width(t.kind) == 0 {
			return fmt.Errorf("weights %q are of type %d, which is not supported", t.name, t.kind)
		}
	}
	n.output = value{name: n.Output}
	for _, v := range g.outputs {
		if v.name == n.Output {
			n.output = v
		}
	}
	g.outputs = []value{{name: n.Output, kind: float32Type}}
	return nil
}

// shape checks the shape of the input.
func (n *Network) shape() error {
	list := n.graph.inputs
	if len(list) != 1 {
		if len(list) == 0 {
			return fmt.Errorf("%s depends on no input: it is not a network of images", n.Output)
		}
		return fmt.Errorf("%s needs %d inputs, %s: want images alone", n.Output, len(list), n.graph.describe(list))
	}
	v := list[0]
	text := n.graph.describe(list)
	n.bytes = v.kind == uint8Type
	if !n.bytes && v.kind != float32Type && v.kind != float16Type && v.kind != bfloat16Type || len(v.dims) != 4 {
		return fmt.Errorf("its input %s is not of images: want floats or bytes [batch, 3, height, width] or [batch, height, width, 3]", text)
	}
	h, w := v.dims[2], v.dims[3]
	switch {
	case v.dims[1] == 3 || v.dims[1] == -1 && v.dims[3] != 3:
	case v.dims[3] == 3:
		n.last, h, w = true, v.dims[1], v.dims[2]
	default:
		return fmt.Errorf("its input %s is of images of %d channels, want 3", text, v.dims[1])
	}
	if h != w && h >= 0 && w >= 0 {
		return fmt.Errorf("its input %s has images that are not square, which are not supported", text)
	}
	n.Size, n.Batch = int(max(h, w, 0)), int(max(v.dims[0], 0))
	n.graph.inputs[0].kind = float32Type
	n.input = v
	return nil
}

// Bytes reports whether images are bytes from 0 to 255: the network preprocesses them itself, as
// the preset Raw.
func (n *Network) Bytes() bool { return n.bytes }

// Side returns the side of images: the file's, or the requested one if the file permits any.
// Contradicting sides are an error; side may be 0.
func (n *Network) Side(side int) (int, error) {
	if n.Size > 0 && side > 0 && n.Size != side {
		return 0, fmt.Errorf("%s takes images of %d pixels a side, and %d were requested", n.Path, n.Size, side)
	}
	return cmp.Or(n.Size, side), nil
}
