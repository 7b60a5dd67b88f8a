package imported

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
)

// Trial is the number of images of [Trainable.Try]: few enough to be cheap.
func Trial(size int) int { return max(1, min(48, 224*224/max(size*size, 1))) }

// Try checks that one training step works on images of zeros: forward, in training and evaluation
// mode, and backward. Its result is discarded.
func (t *Trainable) Try(on engine.Backend) error {
	values, err := t.Values()
	if err != nil {
		return err
	}
	count := Trial(t.size)
	args := []any{tensors.FromFlatDataAndDimensions(make([]float32, count*t.size*t.size*3), count, t.size, t.size, 3)}
	for _, p := range t.params {
		args = append(args, tensors.FromFlatDataAndDimensions(values[p.Name], p.Shape...))
	}
	compute := on.Compute
	if on.FastConv {
		compute = &lowered{compute}
	}
	err = caught(func() {
		exec := graph.MustNewExec(compute, func(args []*graph.Node) []*graph.Node {
			params := map[string]*graph.Node{}
			for i, p := range t.params {
				params[p.Name] = args[1+i]
			}
			f := t.Build(params, []nets.Pass{{Images: args[0], UpdateStats: true}}, true)
			gradients, _ := f.Pull([]*graph.Node{graph.OnesLike(f.Passes[0])})
			out := t.Build(params, []nets.Pass{{Images: args[0], NoGrad: true}}, false).Passes
			for _, p := range t.params {
				if g := gradients[p.Name]; g != nil {
					out = append(out, graph.ReduceAllSum(g))
				}
			}
			for _, v := range f.Running {
				out = append(out, graph.ReduceAllSum(v))
			}
			return out
		})
		defer exec.Finalize()
		exec.MustCall(args...)
	})
	if err != nil {
		return fmt.Errorf("%s: %s", t.Path, firstLine(err))
	}
	return nil
}
