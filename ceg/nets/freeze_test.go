package nets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestStages(t *testing.T) {
	for _, c := range []struct {
		names []string // or the network's
		net   string
		want  string // the first parameter of each stage
	}{
		{net: "resnet18", want: "conv1.weight layer1.0.conv1.weight layer2.0.conv1.weight layer3.0.conv1.weight layer4.0.conv1.weight"},
		{net: "smallcnn", want: "conv1.weight conv2.weight conv3.weight conv4.weight"},
		{net: "efficientnet-lite0", want: "conv_stem.weight blocks.0.0.conv_dw.weight blocks.1.0.conv_pw.weight blocks.2.0.conv_pw.weight " +
			"blocks.3.0.conv_pw.weight blocks.4.0.conv_pw.weight blocks.5.0.conv_pw.weight blocks.6.0.conv_pw.weight"},
		{names: []string{"onnx.cls_token", "onnx.patch_embed.proj.weight", "onnx.blocks.0.norm1.weight", "onnx.onnx::MatMul_12", "onnx.blocks.0.attn.qkv.bias",
			"onnx.blocks.1.norm1.weight", "onnx.norm.weight"}, want: "onnx.cls_token onnx.blocks.0.norm1.weight onnx.blocks.1.norm1.weight"},
		{names: []string{"onnx.0.weight", "onnx.1.0.weight", "onnx.1.1.weight"}, want: "onnx.0.weight onnx.1.0.weight"},
		{names: []string{"onnx.embeddings.cls_token", "onnx.encoder.layer.0.a", "onnx.encoder.layer.1.a", "onnx.encoder.layer.10.a"},
			want: "onnx.embeddings.cls_token onnx.encoder.layer.0.a onnx.encoder.layer.1.a onnx.encoder.layer.10.a"},
	} {
		var params []nets.Param
		for _, s := range c.names {
			params = append(params, nets.Param{Name: s})
		}
		if c.net != "" {
			b := fatal.Get(nets.New(config.Network{Name: c.net, Width: 32, Pooling: config.MeanPool}, 0))(t)
			params, _ = fatal.Get2(nets.Params(b, 64))(t)
		}
		var first []string
		count := 0
		for _, s := range nets.Stages(params) {
			first, count = append(first, s[0]), count+len(s)
		}
		if got := strings.Join(first, " "); got != c.want || count != len(params) {
			t.Errorf("%d of %d parameters, stages from\n%s, want\n%s", count, len(params), got, c.want)
		}
	}
}

func TestFreezeRefuses(t *testing.T) {
	b := fatal.Get(nets.New(config.Network{Name: "smallcnn", Width: 2, Pooling: config.MeanPool}, 0))(t)
	for how, want := range map[config.Freeze]string{
		"4":    "has 4 stages: freeze 1 to 3 of them, or head for all",
		"norm": "has no normalisation to freeze",
		"all":  `freeze "all", want head, norm or a number of stages`,
	} {
		fatal.Says(t, fatal.Err(nets.Freeze(b, how, 32)), want)
	}
	for how, want := range map[config.Freeze]string{"": "0 false", "1": "2 true", "head": "8 true"} {
		f, err := nets.Freeze(b, how, 32)
		if got := fmt.Sprint(len(f.Fixed), f.Still); err != nil || got != want {
			t.Errorf("%q: %s (%v), want %s", how, got, err, want)
		}
	}
}
