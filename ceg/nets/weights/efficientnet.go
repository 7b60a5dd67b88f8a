package weights

import (
	"fmt"
	"strconv"
	"strings"
)

// efficientNames returns timm's names of an EfficientNet's tensors for those of
// EfficientNet-PyTorch (lukemelas/EfficientNet-PyTorch, and efficientnet_lite_pytorch after it);
// nil if the names are others. There, blocks are numbered consecutively, so the network's names
// determine where a stage starts. Expanding blocks name their layers differently from blocks of
// the first stage.
func efficientNames(names []string, want []Spec) []string {
	widens, any := map[string]bool{}, false
	for _, n := range names {
		if block, ok := strings.CutSuffix(n, "._expand_conv.weight"); ok {
			widens[block] = true
		}
		any = any || n == "_conv_stem.weight"
	}
	if !any {
		return nil
	}
	var blocks []string // in order
	for _, w := range want {
		if rest, ok := strings.CutPrefix(w.Name, "blocks."); ok {
			part := strings.SplitN(rest, ".", 3)
			if len(part) < 3 {
				continue
			}
			if block := "blocks." + part[0] + "." + part[1]; len(blocks) == 0 || blocks[len(blocks)-1] != block {
				blocks = append(blocks, block)
			}
		}
	}
	top := map[string]string{"_conv_stem": "conv_stem", "_bn0": "bn1", "_conv_head": "conv_head", "_bn1": "bn2", "_fc": "fc"}
	wide := map[string]string{"_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2", "_project_conv": "conv_pwl", "_bn2": "bn3"}
	narrow := map[string]string{"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		part := strings.SplitN(n, ".", 4)
		layers, prefix := top, ""
		if len(part) == 4 && part[0] == "_blocks" {
			at, err := strconv.Atoi(part[1])
			if err != nil || at < 0 || at >= len(blocks) {
				continue // reported as unexpected
			}
			layers, prefix = narrow, blocks[at]+"."
			if widens[fmt.Sprintf("_blocks.%d", at)] {
				layers = wide
			}
			part = part[2:]
		} else {
			part = strings.SplitN(n, ".", 2)
		}
		if layer, ok := layers[part[0]]; ok && len(part) == 2 {
			out[i] = prefix + layer + "." + part[1]
		}
	}
	return out
}
