package imported

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/nets"
)

// adapters puts adapters on a network of testdata, and returns its parameters, with values from the
// file or drawn.
func adapters(t *testing.T, file, output string, l LoRA) (b nets.Backbone, params []nets.Param, values [][]float32) {
	t.Helper()
	n, err := OpenTrainable("testdata/"+file+".onnx", output, "", "", 32)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = l.Adapt(nets.OfGraph(file, n, nets.Pixels{})); err != nil {
		t.Fatal(err)
	}
	own, err := n.Values()
	if err != nil {
		t.Fatal(err)
	}
	if params, _, err = nets.Params(b, 32); err != nil {
		t.Fatal(err)
	}
	for _, p := range params {
		v, ok := own[p.Name]
		if !ok {
			v = p.Init(1)
		}
		values = append(values, v)
	}
	return b, params, values
}

// features returns those of three images, the loss sum_i cos(0.7 i) f_i, and its gradients.
func features(t *testing.T, b nets.Backbone, params []nets.Param, values [][]float32) (f []float32, loss float64, grads map[string][]float32) {
	t.Helper()
	var list []any
	for i, p := range params {
		list = append(list, tensors.FromFlatDataAndDimensions(values[i], p.Shape...))
	}
	images := slices.Concat(image(0), image(1), image(2))
	var names []string
	out, err := graph.MustNewExec(backend(t).Compute, func(args []*graph.Node) []*graph.Node {
		byName := map[string]*graph.Node{}
		for i, p := range params {
			byName[p.Name] = args[i]
		}
		x := nets.Normalise(args[len(params)], given.Mean, given.Std)
		f := b.Graph.Build(byName, []nets.Pass{{Images: x}}, false)
		d := f.Passes[0].Shape().Dimensions
		d7 := graph.Cos(graph.MulScalar(graph.Iota(x.Graph(), shapes.Make(dtypes.Float32, d[0]*d[1]), 0), 0.7))
		grads, _ := f.Pull([]*graph.Node{graph.Reshape(d7, d...)})
		nodes := []*graph.Node{f.Passes[0]}
		for _, p := range params {
			if grads[p.Name] != nil {
				names, nodes = append(names, p.Name), append(nodes, grads[p.Name])
			}
		}
		return nodes
	}).Call(append(list, tensors.FromFlatDataAndDimensions(images, 3, 32, 32, 3))...)
	if err != nil {
		t.Fatal(firstLine(err))
	}
	f = tensors.MustCopyFlatData[float32](out[0])
	for i, v := range f {
		loss += float64(v) * math.Cos(float64(float32(0.7)*float32(i)))
	}
	grads = map[string][]float32{}
	for i, name := range names {
		grads[name] = tensors.MustCopyFlatData[float32](out[1+i])
	}
	return f, loss, grads
}

// Adapters begin as nothing; with any values the network is the one whose matrices have their
// products, and their gradients are those of these matrices, taken through the product:
// dA = s B'dW and dB = s dW A', and differences of the loss.
func TestAdapters(t *testing.T) {
	for _, c := range []struct {
		file, output string
		count        int
	}{{"train/vit", "", 8}, {"vit", "pooled", 5}} { // the latter with a Gemm of [out, in]
		t.Run(c.file, func(t *testing.T) {
			l := LoRA{Rank: 3, Alpha: 6}
			b, params, values := adapters(t, c.file, c.output, l)
			bare, _, _ := Merged(b, params, values)
			of := func(values [][]float32) (nets.Backbone, []nets.Param, [][]float32) {
				return Merged(b, params, values)
			}

			first, _, grads := features(t, b, params, values)
			_, ownParams, ownValues := of(values)
			want, _, _ := features(t, bare, ownParams, ownValues)
			if !slices.Equal(first, want) {
				t.Error("adapters begin with other features")
			}
			learn := 0
			at := map[string]int{}
			for i, p := range params {
				at[p.Name] = i
				if p.Trained() {
					learn++
				}
				if adapter := strings.Contains(p.Name, ".lora_"); adapter != p.Trained() || adapter != p.Added || adapter != (grads[p.Name] != nil) {
					t.Errorf("%s learns: %v", p.Name, p.Trained())
				}
				if strings.HasSuffix(p.Name, ".lora_B") {
					values[i] = make([]float32, p.Size())
					for k := range values[i] {
						values[i][k] = float32(math.Sin(float64(k*k+i))) / 10
					}
				}
			}
			if learn != 2*c.count || !strings.HasPrefix(b.Adapters, "adapters of rank 3 on ") {
				t.Errorf("%d adapters, %s, want %d", learn, b.Adapters, 2*c.count)
			}

			got, _, grads := features(t, b, params, values)
			_, ownParams, merged := of(values)
			want, _, whole := features(t, bare, ownParams, merged)
			near(t, got, wide(want))
			for _, m := range bare.Graph.(*Trainable).linears() {
				down, up := at[m.name+".lora_A"], at[m.name+".lora_B"]
				in, out := params[down].Shape[1], params[up].Shape[0]
				dW := func(o, i int) float64 { // [out, in]
					if m.outIn {
						return float64(whole[m.name][o*in+i])
					}
					return float64(whole[m.name][i*out+o])
				}
				dA, dB := make([]float64, l.Rank*in), make([]float64, out*l.Rank)
				for o := range out {
					for i := range in {
						for r := range l.Rank {
							dA[r*in+i] += 2 * float64(values[up][o*l.Rank+r]) * dW(o, i)
							dB[o*l.Rank+r] += 2 * dW(o, i) * float64(values[down][r*in+i])
						}
					}
				}
				near(t, grads[m.name+".lora_A"], dA)
				near(t, grads[m.name+".lora_B"], dB)
			}

			// Along a direction of all adapters; the difference is off by its square, and by rounding.
			const step = 1e-2
			moved := func(by float64) float64 {
				v := slices.Clone(values)
				for i, p := range params {
					if p.Trained() {
						v[i] = slices.Clone(v[i])
						for k := range v[i] {
							v[i][k] += float32(by * math.Cos(float64(k+i)))
						}
					}
				}
				_, loss, _ := features(t, b, params, v)
				return loss
			}
			slope := 0.0
			for i, p := range params {
				for k, g := range grads[p.Name] {
					slope += float64(g) * math.Cos(float64(k+i))
				}
			}
			if d := (moved(step) - moved(-step)) / (2 * step); !(math.Abs(d-slope) <= 0.02*math.Abs(slope)) {
				t.Errorf("the loss rises by %v, and the gradients say %v", d, slope)
			}
		})
	}
}

func wide(v []float32) (list []float64) {
	for _, x := range v {
		list = append(list, float64(x))
	}
	return list
}

// Networks without linear layers, or with none of such a rank, have no adapters.
func TestAdaptersRefused(t *testing.T) {
	for file, rank := range map[string]int{"resnet": 2, "vit": 16} {
		n, err := OpenTrainable("testdata/train/"+file+".onnx", "", "", "", 32)
		if err != nil {
			t.Fatal(err)
		}
		_, err = LoRA{Rank: rank}.Adapt(nets.OfGraph(file, n, nets.Pixels{}))
		if err == nil || !strings.HasPrefix(err.Error(), "network "+file+" has no linear layers, products with a weight of two axes, of more than ") {
			t.Errorf("%s: error %v", file, err)
		}
	}
	if _, err := (LoRA{Rank: 1}).Adapt(nets.SmallCNN(2, "mean")); err == nil || !strings.Contains(err.Error(), "is not from a file") {
		t.Errorf("of layers: error %v", err)
	}
}
