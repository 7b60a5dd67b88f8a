package nb

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/gonb/gonbui"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/datasets"
)

// Scope declares the parameters of a network, and Node is a node of its graph.
type (
	Scope = nets.Scope
	Node  = graph.Node
)

// What a network of one's own computes features of: normalised images [n, size, size, 3], or feature vectors
// [n, length].
const (
	OnImages   = nets.OnImages
	OnFeatures = nets.OnFeatures
)

// Network registers a backbone, which is a graph function in GoMLX, and returns its name, as [Strategy] does. The
// function returns features [n, d] or maps [n, h, w, d], and treats every example by itself:
//
//	var Residual = nb.Network("residual", nb.OnFeatures, func(s *nb.Scope, x *nb.Node) *nb.Node {
//		return graph.Add(x, s.Linear("out", graph.Tanh(s.Linear("in", x, s.Width)), x.Shape().Dim(1)))
//	})
//
// A run with it has nb.Set("net", Residual), and any method. s.Width is the setting "width". s.Param declares any
// other parameter. For a network of ledg's layers, with BatchNorm and an ONNX form, see nets.Register.
func Network(name string, on nets.Input, f func(s *Scope, x *Node) *Node) string {
	return registered(name, nets.RegisterFunc(name, on, f), gonbui.IsNotebook)
}

// Export writes the trained network of a run as FILE.onnx, with a model card and an example in Python beside it, or
// its weights as FILE.safetensors, for PyTorch.
func Export(dir, file string) {
	if filepath.Ext(file) == ".onnx" {
		Must(predict.ExportONNX(ceg.Options{Dir: dir}, file, onnx.Float32))
		return
	}
	m, _, err := run.LoadModel(ceg.Options{Dir: dir})
	Must(Must(m, err).Save(file))
}

// Tensors returns the features, logits or probabilities of the images of a run, its pool and its target, as
// rows: id, domain, class, and a column for each number. Epochs count from 1, as in [Frame]; 0 is the
// last. A run stores its last weights, so it is trained again for others, in [Dir]("weights").
func Tensors(dir string, epoch int, what string) Rows {
	r, kinds := Must(result.OpenRun(dir)), []string{"features", "logits", "probabilities"}
	kind, last := slices.Index(kinds, what), len(r.Records)
	if kind < 0 || epoch < 0 || epoch > last {
		Check(fmt.Errorf("%s: %q of epoch %d, want one of %q of 1 to %d, or 0 for the last", r.Path, what, epoch, kinds, last))
	}
	e := Must(run.EmbedTarget(context.Background(), ceg.Options{Dir: withWeights(r, cmp.Or(epoch, last))}))
	m, names := []active.Matrix{e.Features, e.ClassLogits, e.ClassProbs}[kind], []string{"id", "domain", "class"}
	for k := range m.Cols {
		if kind == 0 {
			names = append(names, fmt.Sprint("feature ", k))
		} else {
			names = append(names, e.ClassNames[k])
		}
	}
	t := NewTable(names...)
	for i, id := range e.IDs {
		row := []string{id, e.DomainNames[e.Domains[i]], ""}
		if e.Classes[i] != datasets.Unknown {
			row[2] = e.ClassNames[e.Classes[i]]
		}
		for _, v := range m.Data[i*m.Stride:][:m.Cols] {
			row = append(row, fmt.Sprint(v))
		}
		t.AddRow(row...)
	}
	return Rows{t}
}
