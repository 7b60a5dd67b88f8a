package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
)

// heads adds the nodes that compute features, logits and probabilities from the last maps. It
// returns the numbers of classes and of features.
func (b *builder) heads(last value) (classes, features int) {
	x := last.name
	switch b.n.Backbone.Pooling {
	case config.MeanPool:
		if features = last.c; last.flat {
			break
		}
		x = b.node("GlobalAveragePool", "", []string{x})
	case config.FlattenPool:
		features = last.c * last.h * last.w
	default:
		panic(fmt.Errorf("pooling %q makes no features", b.n.Backbone.Pooling))
	}
	if b.n.Vectors == nil {
		b.node("Flatten", FeaturesOutput, []string{x}, onnxpb.Int("axis", 1))
	} else {
		features = b.vectors(b.node("Flatten", "", []string{x}, onnxpb.Int("axis", 1)), features)
	}
	switch h := b.n.Head; {
	case h.Cosine != "":
		classes = b.cosine(h, features)
	case len(h.Experts) > 0:
		classes = b.experts(h, features)
	default:
		classes = b.linear(nets.ClassHead, LogitsOutput, features)
	}
	z := LogitsOutput
	if b.n.Temperature != 1 {
		z = b.node("Mul", "", []string{z, b.constant("inverse_temperature", nil, float32(1/b.n.Temperature))})
	}
	b.node("Softmax", ProbsOutput, []string{z}, onnxpb.Int("axis", 1))
	return classes, features
}

// vectors adds the network on the backbone's features [batch, features], and returns the number of
// features that the heads get.
func (b *builder) vectors(x string, features int) int {
	v := b.n.Vectors
	if len(v.Mean) != features {
		panic(fmt.Errorf("means of %d features, the backbone has %d", len(v.Mean), features))
	}
	if v.Normal == config.RootFeatures || v.Normal == config.RootUnitFeatures {
		root := b.node("Sqrt", "", []string{b.node("Abs", "", []string{x})})
		x = b.node("Mul", "", []string{b.node("Sign", "", []string{x}), root})
	}
	if v.Normal == config.UnitFeatures || v.Normal == config.RootUnitFeatures {
		x = b.node("Div", "", []string{x, b.length(x, 1e-30)}) // zeros stay zeros
	}
	x = b.node("Sub", "", []string{x, b.constant("standard.mean", []int{1, features}, v.Mean...)})
	x = b.node("Mul", "", []string{x, b.constant("standard.scale", nil, v.Scale)})
	shape := onnxpb.Integers(-1, int64(features), 1, 1)
	shape.Name = "standard.shape"
	b.constants = append(b.constants, shape)
	last := v.Backbone.Layers(b, value{name: b.node("Reshape", "", []string{x, shape.Name}), c: features, h: 1, w: 1}).(value)
	b.node("Flatten", FeaturesOutput, []string{last.name}, onnxpb.Int("axis", 1))
	return last.c
}

// linear adds a linear layer on the features and returns its number of outputs.
func (b *builder) linear(name, output string, features int) int {
	i, ok := b.params[name+".bias"]
	if !ok {
		panic(fmt.Errorf("no parameter %q", name+".bias"))
	}
	out := b.n.Params[i].Size()
	b.node("Gemm", output, []string{FeaturesOutput, b.param(name+".weight", out, features), b.param(name+".bias", out)}, onnxpb.Int("transB", 1))
	return out
}

// experts adds the logarithm of the mean of the heads' probabilities.
func (b *builder) experts(h Head, features int) (classes int) {
	var probs []string
	for _, name := range h.Experts {
		z := name + ".logits"
		classes = b.linear(name, z, features)
		probs = append(probs, b.node("Softmax", "", []string{z}, onnxpb.Int("axis", 1)))
	}
	b.node("Log", LogitsOutput, []string{b.node("Mean", "", probs)})
	return classes
}

// length adds the lengths [batch, 1] of vectors [batch, d], or least if that is more.
func (b *builder) length(x string, least float32) string {
	square := b.node("Mul", "", []string{x, x})
	axes := onnxpb.Integers(1)
	axes.Name = square + ".axes"
	b.constants = append(b.constants, axes)
	length := b.node("Sqrt", "", []string{b.node("ReduceSum", "", []string{square, axes.Name}, onnxpb.Int("keepdims", 1))})
	return b.node("Max", "", []string{length, b.constant(square+".least", nil, least)})
}

// cosine adds the cosines of the features with the rows of a parameter, which are
// written with length Scale.
func (b *builder) cosine(h Head, features int) (classes int) {
	i, ok := b.params[h.Cosine]
	if !ok {
		panic(fmt.Errorf("no parameter %q", h.Cosine))
	}
	const least = 1e-12
	classes = b.n.Params[i].Shape[0]
	rows := slices.Clone(b.n.Values[i])
	for row := range slices.Chunk(rows, features) {
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		for j, v := range row {
			row[j] = float32(h.Scale * float64(v) / max(math.Sqrt(sum), least))
		}
	}
	unit := b.node("Div", "", []string{FeaturesOutput, b.length(FeaturesOutput, least)})
	b.node("Gemm", LogitsOutput, []string{unit, b.constant(h.Cosine+".unit", []int{classes, features}, rows...)}, onnxpb.Int("transB", 1))
	return classes
}
