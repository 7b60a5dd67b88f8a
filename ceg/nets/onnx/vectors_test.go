package onnx_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A network that was trained on the features of another one is in one file with it, and
// computes what it does on their features.
func TestVectors(t *testing.T) {
	const hidden, images, size = 6, 2, 16
	for _, normal := range []config.Normalisation{"", config.RootFeatures, config.UnitFeatures, config.RootUnitFeatures} {
		for _, mlp := range []bool{false, true} {
			n := random(t, nets.SmallCNN(5, config.MeanPool), size)
			r := rand.New(rand.NewPCG(5, 6))
			pixels := make([]uint8, images*size*size*3)
			for i := range pixels {
				pixels[i] = uint8(r.Uint32())
			}
			raw, _ := ours(t, n, pixels, images)
			dim := len(raw) / images
			n.Params, n.Values = n.Params[:len(n.Params)-2], n.Values[:len(n.Values)-2] // its own head
			b, err := nets.Identity(dim)
			if mlp {
				b, err = nets.MLP(dim, hidden)
			}
			if err != nil {
				t.Fatal(err)
			}
			params, features := fatal.Get2(nets.Params(b, 0))(t)
			values := map[string][]float32{}
			for _, p := range append(params, nets.LinearParams(nets.ClassHead, features, classes)...) {
				v := make([]float32, p.Size())
				for i := range v {
					v[i] = float32(r.NormFloat64())
				}
				n.Params, n.Values, values[p.Name] = append(n.Params, p), append(n.Values, v), v
			}
			mean := make([]float32, dim)
			for i := range mean {
				mean[i] = float32(r.NormFloat64()) / 8
			}
			n.Vectors, n.Input = &onnx.Vectors{Backbone: b, Normal: normal, Mean: mean, Scale: 1.5}, onnx.Uint8
			var file bytes.Buffer
			fatal.If(t, n.Write(&file))
			in := array{[]int{images, size, size, 3}, make([]float64, len(pixels))}
			for i, v := range pixels {
				in.v[i] = float64(v)
			}
			got := read(t, file.Bytes()).run(t, in)
			var x, logits []float32
			for i := range images {
				row := raw[i*dim : (i+1)*dim]
				if normal == config.RootFeatures || normal == config.RootUnitFeatures {
					for j, v := range row {
						row[j] = float32(math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v)))
					}
				}
				if normal == config.UnitFeatures || normal == config.RootUnitFeatures {
					square := 0.0
					for _, v := range row {
						square += float64(v) * float64(v)
					}
					for j := range row {
						row[j] /= float32(math.Sqrt(square))
					}
				}
				for j := range row {
					row[j] = (row[j] - mean[j]) * 1.5
				}
				if mlp {
					row = layer(row, values["hidden.weight"], values["hidden.bias"])
					for j := range row {
						row[j] = max(row[j], 0)
					}
				}
				x, logits = append(x, row...), append(logits, layer(row, values["fc.weight"], values["fc.bias"])...)
			}
			compare(t, string(normal)+" features", got["features"].v, x)
			compare(t, string(normal)+" logits", got["logits"].v, logits)
		}
	}
}

// layer is a linear layer of one vector.
func layer(x, w, b []float32) []float32 {
	y := make([]float32, len(b))
	for o := range y {
		sum := float64(b[o])
		for j, v := range x {
			sum += float64(v) * float64(w[o*len(x)+j])
		}
		y[o] = float32(sum)
	}
	return y
}
