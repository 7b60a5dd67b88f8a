package ceg

import (
	"github.com/ledg-go/ledg/ceg/weights"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
)

// Export writes the backbone and the class head of the run in o.Dir, as they are
// in its last checkpoint, to a .safetensors file with torchvision's names, and
// returns the file's SHA-256. The values are exact; the domain head is left out, and
// heads that the objective's tests need are there. The file is whole or not there.
func Export(o Options, to string) (digest string, err error) {
	m, _, err := LoadModel(o)
	if err != nil {
		return "", err
	}
	var sd weights.StateDict
	for i, p := range m.Params {
		sd = append(sd, weights.FromFloat32(p.Name, p.Shape, m.Values[i]))
	}
	return weights.Save(to, sd, map[string]string{pretrained.DataKey: m.Trained(), "network": m.Backbone.Name})
}
