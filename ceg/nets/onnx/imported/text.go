package imported

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/ort"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
)

// Text is the text tower of a network of images and texts, from an ONNX file. It embeds one text
// at a time, of a fixed number of tokens.
type Text struct {
	// Path is the file, Digest its SHA-256; see [Network].
	Path, Digest string
	Length       int64
	// Rows is the number of tokens that its embedding knows, Context the number of tokens of a text
	// in the file's input shape; 0 where the file does not say.
	Rows, Context int

	n      *Network
	others []*onnxpb.Value // inputs beside the tokens
}

const visionPrefix, textPrefix = "vision_model", "text_model"

// textOutputs are the names of text embeddings, as by Optimum, transformers.js and open_clip.
var textOutputs = []string{"text_embeds", "text_features", "pooler_output"}

// TextFile names the file of the text tower for a file of images: text_model.onnx beside vision_model.onnx,
// with the same ending, the same name in textual beside visual, as open_clip's are exported, or the same file.
func TextFile(network string) string {
	dir, base := filepath.Split(network)
	if parent, ok := strings.CutSuffix(filepath.ToSlash(dir), "visual/"); ok && (parent == "" || strings.HasSuffix(parent, "/")) {
		return filepath.Join(filepath.FromSlash(parent), "textual", base)
	}
	if rest, ok := strings.CutPrefix(base, visionPrefix); ok {
		return filepath.Join(dir, textPrefix+rest)
	}
	return network
}

// OpenText reads the text tower in a file.
func OpenText(path string) (*Text, error) {
	n, err := read(path, "")
	if err != nil {
		return nil, err
	}
	if err = n.choose(n.known(textOutputs)); err != nil {
		return nil, fmt.Errorf("%s has no text tower: %w", path, err)
	}
	n.prune()
	t := &Text{Path: path, Digest: n.Digest, Length: n.Length, n: n}
	var tokens []*onnxpb.Value
	for _, v := range n.file.Graph.Inputs {
		kind, d := v.Tensor()
		switch {
		case len(d) != 2 || kind != onnxpb.Int64 && kind != onnxpb.Int32:
			return nil, fmt.Errorf("%s has no text tower: its output %s needs %s, want tokens [batch, context]", path, n.Output, describe([]*onnxpb.Value{v}))
		case strings.Contains(v.Name, "mask") || strings.Contains(v.Name, "position") || strings.Contains(v.Name, "type"):
			t.others = append(t.others, v)
		default:
			tokens = append(tokens, v)
		}
	}
	if len(tokens) != 1 {
		return nil, fmt.Errorf("%s has no text tower: its output %s needs %s, want tokens alone", path, n.Output, describe(n.file.Graph.Inputs))
	}
	kind, d := tokens[0].Tensor()
	n.input, n.kind, t.Context = tokens[0].Name, kind, int(max(d[1], 0))
	t.Rows = n.rows()
	return t, nil
}

// rows is the number of rows of the largest matrix that rows are selected of, which is the tokens'; 0 if there
// is none.
func (n *Network) rows() (most int) {
	matrices := map[string]int{}
	for _, w := range n.file.Graph.Weights {
		if len(w.Dims) == 2 {
			matrices[w.Name] = int(w.Dims[0])
		}
	}
	for _, m := range n.file.Graph.Nodes {
		switch {
		case m.Op == "Constant" && m.Get("value").Tensor != nil && len(m.Get("value").Tensor.Dims) == 2:
			matrices[m.Out[0]] = int(m.Get("value").Tensor.Dims[0])
		case (m.Op == "DequantizeLinear" || m.Op == "Cast") && len(m.In) > 0: // of a matrix
			matrices[m.Out[0]] = matrices[m.In[0]]
		case m.Op == "Gather" && len(m.In) == 2:
			most = max(most, matrices[m.In[0]])
		}
	}
	return most
}

// encode is the file for texts of the given number of tokens. Inputs beside the tokens become
// constants: masks of ones, as all tokens are seen in training, positions, and types of 0.
func (t *Text) encode(context int) (b []byte, folder string, err error) {
	g := t.n.file.Graph
	for _, v := range t.others {
		kind, _ := v.Tensor()
		list := make([]int64, context)
		for i := range list {
			switch {
			case strings.Contains(v.Name, "mask"):
				list[i] = 1
			case strings.Contains(v.Name, "position"):
				list[i] = int64(i)
			}
		}
		g.Weights = append(g.Weights, &onnxpb.Tensor{Name: v.Name, Type: int32(kind), Dims: []int64{1, int64(context)}, Raw: integers(kind, list)})
	}
	t.others = nil
	g.Inputs = []*onnxpb.Value{onnxpb.NewValue(t.n.input, "", int32(t.n.kind), 1, int64(context))}
	if err := engine.Room(t.Path, float64(t.Length)); err != nil {
		return nil, "", err
	}
	if folder, err = filepath.Abs(filepath.Dir(t.Path)); err == nil {
		b, err = t.n.file.Encode()
	}
	return b, folder, err
}

// integers are numbers as bytes of an element type.
func integers(kind int, list []int64) (b []byte) {
	for _, v := range list {
		if kind == onnxpb.Int32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		} else {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return b
}

// Exec opens the tower on a backend, or with ONNX Runtime if rt is not nil, for texts of context
// tokens. run returns the embedding of a text; close frees the tower.
func (t *Text) Exec(on engine.Backend, rt *engine.Runtime, threads, context int) (run func(tokens []int64) ([]float32, error), close func(), err error) {
	if rt == nil {
		for _, x := range t.n.file.Graph.Nodes {
			plain(x)
		}
	}
	b, folder, err := t.encode(context)
	if err != nil {
		return nil, nil, err
	}
	var s session
	if rt != nil {
		o, err := rt.Open(b, ort.Options{Threads: threads, Folder: folder})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: ONNX Runtime: %w", t.Path, err)
		}
		s = session{close: o.Close, run: func(x ort.Tensor) (ort.Tensor, error) { return o.Run(t.n.input, t.n.Output, x) }}
	} else if err := caught(func() (err error) { s, err = t.n.graph(on, b, folder); return err }); err != nil {
		return nil, nil, fmt.Errorf("%s: %s", t.Path, firstLine(err))
	}
	return func(tokens []int64) (v []float32, _ error) {
		if err := caught(func() error {
			y, err := s.run(ort.Tensor{Kind: t.n.kind, Dims: []int64{1, int64(context)}, Data: integers(t.n.kind, tokens)})
			if err == nil && (len(y.Dims) != 2 || y.Dims[0] != 1) {
				err = fmt.Errorf("output %s is %v for a text, want an embedding [1, features]", t.n.Output, y.Dims)
			}
			v = y.Floats()
			return err
		}); err != nil {
			return nil, fmt.Errorf("%s: %s", t.Path, firstLine(err))
		}
		return v, nil
	}, s.close, nil
}
