package nets

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// stageName finds the stage of a parameter in its name: layer1 of layer1.0.conv2.weight, blocks.3 of
// blocks.3.attn.qkv.bias, encoder.layer.0, conv2.
var stageName = regexp.MustCompile(`^(?:.*?\.)??(?:(?:layer|stage|block|conv)s?_?\d+|\d+|[^.]+\.\d+)(?:\.|$)`)

// Stages returns the names of the parameters by stage, in forward order. A stage is a numbered
// part, such as layer1 to layer4 of a ResNet or a block of a transformer; the layers before the
// first are a stage, too. A parameter without a number belongs to the preceding stage.
func Stages(params []Param) [][]string {
	var stages [][]string
	at, last := map[string]int{}, -1
	for _, p := range params {
		name := strings.TrimPrefix(p.Name, "onnx.")
		key := stageName.FindString(name)
		if i, ok := at[key]; ok && key != "" {
			last = i
		} else if key != "" || last < 0 {
			last = len(stages)
			at[key] = last
			stages = append(stages, nil)
		}
		stages[last] = append(stages[last], p.Name)
	}
	return stages
}

// Freeze returns a partly frozen backbone for images of the given size: all of it
// ([config.FreezeBackbone], head), the scales and shifts of normalisation layers
// ([config.FreezeNorm], norm), or a number of first [Stages]. BatchNorm then uses its running
// statistics in the whole network, and these stay fixed.
func Freeze(b Backbone, how config.Freeze, size int) (Backbone, error) {
	if how == "" {
		return b, nil
	}
	params, _, err := Params(b, size)
	if err != nil {
		return b, err
	}
	fixed := map[string]bool{}
	switch n, err := strconv.Atoi(string(how)); {
	case how == config.FreezeBackbone:
		for _, p := range params {
			fixed[p.Name] = true
		}
	case how == config.FreezeNorm:
		for _, p := range params {
			if p.Kind == Scale || p.Kind == Shift {
				fixed[p.Name] = true
			}
		}
		if len(fixed) == 0 {
			return b, fmt.Errorf("network %s has no normalisation to freeze", b.Name)
		}
	case err != nil:
		return b, fmt.Errorf("freeze %q, want %s, %s or a number of stages", how, config.FreezeBackbone, config.FreezeNorm)
	default:
		stages := Stages(params)
		if n < 1 || n >= len(stages) {
			return b, fmt.Errorf("network %s has %d stages: freeze 1 to %d of them, or %s for all", b.Name, len(stages), len(stages)-1, config.FreezeBackbone)
		}
		for _, name := range slices.Concat(stages[:n]...) {
			fixed[name] = true
		}
	}
	b.Fixed, b.Still = fixed, true
	return b, nil
}
