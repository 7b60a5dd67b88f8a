package imported

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

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

func features(t *testing.T, b nets.Backbone, params []nets.Param, values [][]float32) ([]float32, map[string][]float32) {
	t.Helper()
	return run(t, b.Graph, params, values, 3, func(x *graph.Node) []nets.Pass { return []nets.Pass{{Images: x}} })
}

// Adapters begin as nothing; with any values the network is the one whose matrices have their
// products, and their gradients are those of these matrices, taken through the product:
// dA = s B'dW and dB = s dW A'.
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

			first, grads := features(t, b, params, values)
			_, ownParams, ownValues := of(values)
			want, _ := features(t, bare, ownParams, ownValues)
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

			got, grads := features(t, b, params, values)
			_, ownParams, merged := of(values)
			want, whole := features(t, bare, ownParams, merged)
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
