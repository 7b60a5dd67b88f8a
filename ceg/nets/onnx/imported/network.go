package imported

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Network is an image network from an ONNX file, with one selected output.
type Network struct {
	// Path is the file, Digest its SHA-256 in hexadecimal. With external weight files it is the
	// SHA-256 of all digests, the network's first and the others by name.
	Path, Digest string
	// Length is the number of bytes of all files.
	Length int64
	// Size is the side of the images in the file's input shape, Batch their number; 0 for any.
	Size, Batch int
	// Output is the name of the computed value.
	Output string

	beside []string // external weight files, relative to the network's folder
	file   *onnxpb.Model
	opset  int
	input  string
	kind   int  // the element type of images
	last   bool // the last axis of images has the channels
}

// MaxFile limits the size of a file; it is the limit of protocol buffers.
const MaxFile = 2 << 30

// Limits of an input shape, as images are in memory before a child process computes them.
const (
	mostSide   = 4096    // or images
	mostPixels = 1 << 25 // pixels of a batch
)

// Open reads an ONNX file and selects its output, any value of the graph; empty selects the only
// output. A non-empty digest must match the file's. Nodes that the output does not need are
// removed. Operations are not checked: their backend does so.
//
// With several outputs, an empty output selects the image embedding of a network of images and
// texts, if the file names one.
func Open(path, output, digest string) (*Network, error) {
	n, err := read(path, digest)
	if err != nil {
		return nil, err
	}
	if output == "" {
		output = n.known(imageOutputs)
		if output == "" && strings.HasPrefix(filepath.Base(path), visionPrefix) {
			output = n.known([]string{"pooler_output"})
		}
	}
	if err = n.choose(output); err == nil {
		n.prune()
		err = n.shape()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// imageOutputs are the names of image embeddings, as by Optimum, transformers.js and open_clip.
var imageOutputs = []string{"image_embeds", "image_features"}

// known is the first of some names that an output has; empty for none.
func (n *Network) known(names []string) string {
	for _, name := range names {
		if slices.ContainsFunc(n.file.Graph.Outputs, func(v *onnxpb.Value) bool { return v.Name == name }) {
			return name
		}
	}
	return ""
}

func read(path, digest string) (*Network, error) {
	n := &Network{Path: path}
	b, err := regular.Read(path, MaxFile)
	if err != nil {
		return nil, err
	}
	switch start := strings.ToLower(strings.TrimSpace(string(b[:min(len(b), 64)]))); {
	case strings.HasPrefix(start, "version https://git-lfs"):
		return nil, fmt.Errorf("%s is a Git LFS pointer, not the network: run `git lfs pull` where it is from", path)
	case strings.HasPrefix(start, "<!doctype html"), strings.HasPrefix(start, "<html"):
		return nil, fmt.Errorf("%s is an HTML page, not a network: download the file itself", path)
	}
	if n.file, err = parse(b); err != nil {
		return nil, fmt.Errorf("%s is not an ONNX network that can be read: %w", path, err)
	}
	if err := n.digest(b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if digest != "" && digest != n.Digest {
		return nil, fmt.Errorf("%s has changed: its sha256 was %.12s, and is %.12s now: put the network back", path, digest, n.Digest)
	}
	return n, nil
}

// parse reads a file.
func parse(b []byte) (*onnxpb.Model, error) {
	m, err := onnxpb.Parse(b)
	if err == nil && (m.Graph == nil || len(m.Graph.Nodes) == 0 || opsetOf(m) < 1) {
		err = errors.New("it has no graph")
	}
	return m, err
}

// opsetOf is the version of ONNX's own operators.
func opsetOf(m *onnxpb.Model) (version int) {
	for _, o := range m.Opsets {
		if own(o.Domain) {
			version = int(o.Version)
		}
	}
	return version
}

func own(domain string) bool { return domain == "" || domain == "ai.onnx" }

// tensorsOf returns all tensors of a graph and of nodes, including those in attributes.
func tensorsOf(g *onnxpb.Graph, nodes []*onnxpb.Node) []*onnxpb.Tensor {
	var list []*onnxpb.Tensor
	if g != nil {
		list, nodes = slices.Clone(g.Weights), g.Nodes
	}
	for _, n := range nodes {
		for _, a := range n.Attributes {
			if a.Tensor != nil {
				list = append(list, a.Tensor)
			}
			list = append(list, a.Tensors...)
			for _, inner := range inside(a) {
				list = append(list, tensorsOf(inner, nil)...)
			}
		}
	}
	return list
}

// inside are the graphs in an attribute.
func inside(a *onnxpb.Attribute) []*onnxpb.Graph {
	if a.Graph != nil {
		return []*onnxpb.Graph{a.Graph}
	}
	return a.Graphs
}

const outside = 1 // onnx.TensorProto.DataLocation: EXTERNAL

// filesOf lists the external weight files of a network by name, all within its folder.
func filesOf(m *onnxpb.Model) (files []string, err error) {
	list := tensorsOf(m.Graph, nil)
	for _, f := range m.Functions {
		list = append(list, tensorsOf(nil, f.Nodes)...)
	}
	for _, t := range list {
		if t.Location != outside {
			continue
		}
		location := entry(t, "location")
		if !filepath.IsLocal(filepath.FromSlash(location)) {
			return nil, fmt.Errorf("weights %q are in %q, outside the network's folder, which is not allowed", t.Name, location)
		}
		files = append(files, location)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// WeightFiles lists the external weight files of the network in a file, relative to its folder.
func WeightFiles(path string) ([]string, error) {
	b, err := regular.Read(path, MaxFile)
	if err != nil {
		return nil, err
	}
	m, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("it is not an ONNX network that can be read: %w", err)
	}
	return filesOf(m)
}

// entry is what an external tensor has under a key.
func entry(t *onnxpb.Tensor, key string) (value string) {
	for _, e := range t.External {
		if e.Key == key {
			value = e.Value
		}
	}
	return value
}

// digest computes the Digest of the file's bytes and of the external weight files. Links that lead
// out of the folder are refused.
func (n *Network) digest(b []byte) (err error) {
	sum := sha256.Sum256(b)
	n.Digest, n.Length = hex.EncodeToString(sum[:]), int64(len(b))
	if n.beside, err = filesOf(n.file); err != nil || len(n.beside) == 0 {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(n.Path))
	if err != nil {
		return err
	}
	defer root.Close()
	all := registers.SHA256()
	io.WriteString(all, n.Digest)
	for _, name := range n.beside {
		h := registers.SHA256()
		f, err := regular.OpenFS(root.FS(), filepath.ToSlash(filepath.Clean(filepath.FromSlash(name))), 1<<40)
		if err == nil {
			var size int64
			size, err = io.Copy(h, f)
			n.Length += size
			f.Close()
		}
		if err != nil {
			if p := (*fs.PathError)(nil); errors.As(err, &p) {
				err = p.Err
			}
			return fmt.Errorf("weights are in %s beside it, which cannot be read: %w", name, err)
		}
		fmt.Fprintf(all, "%x", h.Sum(nil))
	}
	n.Digest = hex.EncodeToString(all.Sum(nil))
	return nil
}

// choose chooses the output.
func (n *Network) choose(output string) error {
	outputs := n.file.Graph.Outputs
	named := func(v *onnxpb.Value) bool { return v.Name == output }
	switch {
	case output == "" && len(outputs) != 1:
		if len(outputs) == 0 {
			return errors.New("it has no outputs")
		}
		return fmt.Errorf("it has %d outputs, %s: choose one by its name, such as ledg embed --output %[3]s, or ledg train --set network.output=%[3]s", len(outputs), describe(outputs), outputs[0].Name)
	case output == "":
		output = outputs[0].Name
	case !slices.ContainsFunc(outputs, named) && !slices.ContainsFunc(n.file.Graph.Nodes, func(m *onnxpb.Node) bool { return slices.Contains(m.Out, output) }):
		return fmt.Errorf("it has no output %q: its outputs are %s", output, describe(outputs))
	}
	n.Output = output
	chosen := &onnxpb.Value{Name: output}
	if i := slices.IndexFunc(outputs, named); i >= 0 {
		chosen = outputs[i]
	}
	n.file.Graph.Outputs = []*onnxpb.Value{chosen}
	return nil
}

// describe lists values with their shapes.
func describe(list []*onnxpb.Value) string {
	var words []string
	for _, v := range list[:min(len(list), 8)] {
		name := v.Name
		if _, d := v.Tensor(); d != nil {
			name += strings.ReplaceAll(fmt.Sprint(d), "-1", "?")
		}
		words = append(words, name)
	}
	if len(list) > len(words) {
		words = append(words, fmt.Sprintf("and %d more", len(list)-len(words)))
	}
	return strings.Join(words, ", ")
}

// needs returns the values that a node depends on, including those of graphs within it. Some may
// be computed in these graphs.
func needs(n *onnxpb.Node) []string {
	list := slices.Clone(n.In)
	for _, a := range n.Attributes {
		for _, g := range inside(a) {
			for _, m := range g.Nodes {
				list = append(list, needs(m)...)
			}
			for _, v := range g.Outputs {
				list = append(list, v.Name)
			}
		}
	}
	return list
}

// prune keeps only what the output depends on.
func (n *Network) prune() {
	g := n.file.Graph
	by := map[string]*onnxpb.Node{}
	for _, m := range g.Nodes {
		for _, s := range m.Out {
			by[s] = m
		}
	}
	needed, values := map[*onnxpb.Node]bool{}, map[string]bool{}
	for todo := []string{n.Output}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if m := by[s]; m != nil && !needed[m] {
			needed[m] = true
			todo = append(todo, needs(m)...)
		}
		values[s] = true
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(m *onnxpb.Node) bool { return !needed[m] })
	weights := map[string]bool{}
	g.Weights = slices.DeleteFunc(g.Weights, func(t *onnxpb.Tensor) bool {
		weights[t.Name] = true
		return !values[t.Name]
	})
	g.Inputs = slices.DeleteFunc(g.Inputs, func(v *onnxpb.Value) bool { return weights[v.Name] || !values[v.Name] })
	n.file.Version = max(n.file.Version, 4) // from this version on, weights need not be inputs
	n.opset = opsetOf(n.file)
}

// shape checks the shape of the input.
func (n *Network) shape() error {
	list := n.file.Graph.Inputs
	text := describe(list)
	if len(list) != 1 {
		if len(list) == 0 {
			return fmt.Errorf("%s depends on no input: it is not a network of images", n.Output)
		}
		return fmt.Errorf("%s needs %d inputs, %s: want images alone", n.Output, len(list), text)
	}
	kind, d := list[0].Tensor()
	if !slices.Contains([]int{onnxpb.Uint8, onnxpb.Float32, onnxpb.Float16, onnxpb.BFloat16}, kind) || len(d) != 4 {
		return fmt.Errorf("its input %s is not of images: want floats or bytes [batch, 3, height, width] or [batch, height, width, 3]", text)
	}
	h, w := d[2], d[3]
	switch {
	case d[1] == 3 || d[1] == -1 && d[3] != 3:
	case d[3] == 3:
		n.last, h, w = true, d[1], d[2]
	default:
		return fmt.Errorf("its input %s is of images of %d channels, want 3", text, d[1])
	}
	switch {
	case h != w && h >= 0 && w >= 0:
		return fmt.Errorf("its input %s has images that are not square, which are not supported", text)
	case slices.Contains(d, 0):
		return fmt.Errorf("its input %s is empty", text)
	case slices.Max(d) > mostSide || max(d[0], 1)*max(h, w)*max(h, w) > mostPixels:
		return fmt.Errorf("its input %s is too large: want at most %d images of %[2]d pixels a side, and %d pixels in all", text, mostSide, mostPixels)
	}
	n.Size, n.Batch = int(max(h, w, 0)), int(max(d[0], 0))
	n.input, n.kind = list[0].Name, kind
	return nil
}

// Bytes reports whether images are bytes from 0 to 255: the network preprocesses them itself, as
// [preprocess.Raw].
func (n *Network) Bytes() bool { return n.kind == onnxpb.Uint8 }

// Side returns the side of images: the file's, or the requested one if the file permits any.
// Contradicting sides are an error; side may be 0.
func (n *Network) Side(side int) (int, error) {
	if n.Size > 0 && side > 0 && n.Size != side {
		return 0, fmt.Errorf("%s takes images of %d pixels a side, and %d were requested", n.Path, n.Size, side)
	}
	return cmp.Or(n.Size, side), nil
}
