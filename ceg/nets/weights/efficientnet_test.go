package weights

import (
	"slices"
	"testing"
)

// Blocks are counted through in the file and by stages in what is wanted; those that
// widen their input have a layer more.
func TestEfficientNames(t *testing.T) {
	var want []Spec
	for _, n := range []string{"conv_stem.weight", "bn1.weight", "blocks.0.0.conv_dw.weight", "blocks.1.0.conv_pw.weight", "blocks.1.1.conv_pw.weight", "blocks.2.0.conv_pw.weight", "fc.weight"} {
		want = append(want, Spec{Name: n})
	}
	names := map[string]string{
		"_conv_stem.weight":                  "conv_stem.weight",
		"_bn0.running_var":                   "bn1.running_var",
		"_blocks.0._depthwise_conv.weight":   "blocks.0.0.conv_dw.weight",
		"_blocks.0._bn1.bias":                "blocks.0.0.bn1.bias",
		"_blocks.0._project_conv.weight":     "blocks.0.0.conv_pw.weight",
		"_blocks.0._bn2.weight":              "blocks.0.0.bn2.weight",
		"_blocks.2._expand_conv.weight":      "blocks.1.1.conv_pw.weight",
		"_blocks.2._bn0.weight":              "blocks.1.1.bn1.weight",
		"_blocks.2._depthwise_conv.weight":   "blocks.1.1.conv_dw.weight",
		"_blocks.2._bn1.num_batches_tracked": "blocks.1.1.bn2.num_batches_tracked",
		"_blocks.2._project_conv.weight":     "blocks.1.1.conv_pwl.weight",
		"_blocks.3._expand_conv.weight":      "blocks.2.0.conv_pw.weight",
		"_blocks.3._bn2.running_mean":        "blocks.2.0.bn3.running_mean",
		"_blocks.4._expand_conv.weight":      "_blocks.4._expand_conv.weight", // one more than wanted
		"_conv_head.weight":                  "conv_head.weight",
		"_bn1.weight":                        "bn2.weight",
		"_fc.bias":                           "fc.bias",
		"_blocks.2._se_reduce.weight":        "_blocks.2._se_reduce.weight", // not a Lite
	}
	var sorted []string
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for i, got := range efficientNames(sorted, want) {
		if got != names[sorted[i]] {
			t.Errorf("%s is called %s, want %s", sorted[i], got, names[sorted[i]])
		}
	}
	if got := efficientNames([]string{"conv1.weight", "layer1.0.bn1.weight"}, want); got != nil {
		t.Errorf("a ResNet's names became %v", got)
	}
}
