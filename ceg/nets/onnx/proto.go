package onnx

import "github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"

const (
	irVersion = 8
	opset     = 17
)

// port is an input or output with a free first axis.
func port(name, doc string, element int32, dims ...int) *onnxpb.Value {
	v, batch := onnxpb.NewValue(name, doc, element, append([]int64{-1}, onnxpb.Int64s(dims...)...)...), "batch"
	v.Type.Tensor.Shape.Dims[0].Name = &batch
	return v
}

// model returns the whole file.
func (b *builder) model(classes, features int) *onnxpb.Model {
	g := &onnxpb.Graph{Nodes: b.nodes, Name: b.n.Name}
	for _, i := range b.weights {
		p := b.n.Params[i]
		g.Weights = append(g.Weights, onnxpb.Floats(p.Name, p.Shape, b.n.Values[i]...))
	}
	g.Weights = append(g.Weights, b.constants...)
	image := port(ImageInput, "RGB, 0 to 1", onnxpb.Float32, 3, b.n.ImageSize, b.n.ImageSize)
	if b.n.Input == Uint8 {
		image = port(ImageInput, "RGB bytes, 0 to 255", onnxpb.Uint8, b.n.ImageSize, b.n.ImageSize, 3)
	}
	g.Inputs = []*onnxpb.Value{image}
	g.Outputs = []*onnxpb.Value{
		port(ProbsOutput, "class probabilities, in the order of the names in the metadata", onnxpb.Float32, classes),
		port(LogitsOutput, "class logits, before the temperature", onnxpb.Float32, classes),
		port(FeaturesOutput, "features of the backbone", onnxpb.Float32, features),
	}
	m := &onnxpb.Model{Version: irVersion, Producer: "ledg", Graph: g, Opsets: []*onnxpb.Opset{{Version: int64(b.opset)}}}
	for _, domain := range b.domains {
		m.Opsets = append(m.Opsets, &onnxpb.Opset{Domain: domain, Version: 1})
	}
	for _, kv := range b.n.Metadata {
		m.Metadata = append(m.Metadata, &onnxpb.Pair{Key: kv[0], Value: kv[1]})
	}
	return m
}
