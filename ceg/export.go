package ceg

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/weights"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
)

// Export writes the backbone and the class head of the run in o.Dir, as they are
// in its last checkpoint, to a .safetensors file with torchvision's names, and returns the
// file's SHA-256. The values are exact; the domain head is left out. The file is
// whole or not there.
func Export(o Options, to string) (digest string, err error) {
	c, err := readConfig(o.Dir)
	if err != nil {
		return "", err
	}
	backbone, err := c.Network.backbone()
	if err != nil {
		return "", err
	}
	params, features, err := nets.Params(backbone, c.Data.ImageSize)
	if err != nil {
		return "", err
	}
	data, _, err := c.Data.open(o)
	if err != nil {
		return "", err
	}
	params = append(params, nets.LinearParams(nets.ClassHead, features, len(data.Classes))...)
	wanted := len(params)
	head := nets.DomainHead{Hidden: c.Network.DomainHidden}
	params = append(params, head.Params(features, len(data.Domains)-1)...)
	path := filepath.Join(o.Dir, CheckpointFile)
	_, state, ok, err := readCheckpoint(path, params)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", noCheckpoint(o.Dir, c)
	}
	var sd weights.StateDict
	for i, p := range params[:wanted] {
		sd = append(sd, weights.FromFloat32(p.Name, p.Shape, state.Weights[i]))
	}
	var sources []string
	for _, d := range data.Domains {
		if d != c.Data.Target {
			sources = append(sources, d)
		}
	}
	trained := fmt.Sprintf("%s (%s), %s labels", c.Data.Dataset, strings.Join(sources, ", "), c.Exploration.Budget)
	if w := c.Network.Weights; w != nil {
		trained = w.Data + ", then " + trained
	}
	return weights.Save(to, sd, map[string]string{pretrained.DataKey: trained, "network": backbone.Name})
}
