package imported

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets/direct"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// What layers compute without a graph are the graph's features.
func TestLayers(t *testing.T) {
	if !direct.Vectors {
		t.Skip("without a graph nothing is computed here")
	}
	paths, err := filepath.Glob("testdata/train/*[^l].onnx") // all but small.onnx, whose activations are others
	if err != nil || len(paths) != 8 {
		t.Fatal(paths, err)
	}
	pools := map[string]string{}
	for _, p := range datasets.Pools {
		path := written(t, tokenNodes())
		paths, pools[path] = append(paths, path), p
	}
	pooler := "testdata/vit.onnx"
	for _, path := range append(paths, pooler, written(t, layerNodes()), written(t, moreNodes()), written(t, tanhNodes()), written(t, responseNodes()), written(t, windowNodes()),
		written(t, rotaryNodes(1, true)), written(t, rotaryNodes(2, false)), written(t, rotaryNodes(0, true))) {
		t.Run(filepath.Base(path)+pools[path], func(t *testing.T) {
			r := plain
			r.Pool = pools[path]
			n, err := Open(path, map[string]string{pooler: "pooled"}[path], "")
			if err != nil {
				t.Fatal(err)
			}
			d := n.Layers(32, r)
			if d == nil {
				t.Fatal("it is no network of layers")
			}
			want := featuresOf(t, onGo(t), n, r)
			for k := range want {
				got := make([]float32, d.Features())
				d.Worker().Features(got, image(k))
				wide := make([]float64, len(want[k]))
				for i, v := range want[k] {
					wide[i] = float64(v)
				}
				near(t, got, wide)
			}
		})
	}
}

// Others, and what says something else than a layer, are left to graphs.
func TestNoLayers(t *testing.T) {
	for _, path := range []string{"testdata/resnet.onnx", "testdata/train/small.onnx"} {
		n, err := Open(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if n.Layers(32, plain) != nil {
			t.Errorf("%s is layers", path)
		}
	}
	// named is the node that makes a value.
	named := func(nodes []*node, out string) *node {
		return nodes[slices.IndexFunc(nodes, func(n *node) bool { return n.out[0] == out })]
	}
	for name, c := range map[string]struct {
		nodes  []*node
		value  string
		change func(n *node)
	}{
		"unlike":    {layerNodes(), "c1", func(n *node) { n.attrs = []attr{list("strides", 2, 1)} }},
		"dilated":   {layerNodes(), "c1", func(n *node) { n.attrs = []attr{list("dilations", 2, 2)} }},
		"padded":    {layerNodes(), "c1", func(n *node) { n.attrs = []attr{list("pads", 1, 0, 0, 1)} }},
		"groups":    {layerNodes(), "c2", func(n *node) { n.attrs[1].i = 3 }},
		"weights":   {layerNodes(), "w1", func(n *node) { *n = *of("w1", 6, 4, 3, 3) }},
		"bias":      {layerNodes(), "b1", func(n *node) { *n = *of("b1", 5) }},
		"no limits": {layerNodes(), "six", func(n *node) { *n = *single("six", -1) }},
		"ceiling":   {layerNodes(), "pool", func(n *node) { n.attrs = append(n.attrs, attr{name: "ceil_mode", kind: intAttr, i: 1}) }},
		"axes":      {layerNodes(), "mean", func(n *node) { n.attrs = []attr{list("axes", 1, 2)} }},
		"flatten":   {layerNodes(), "y", func(n *node) { n.attrs = []attr{{name: "axis", kind: intAttr, i: 2}} }},
		"operation": {layerNodes(), "y", func(n *node) { n.op = "Softsign" }},
		"constant":  {layerNodes(), "sum", func(n *node) { n.in[1] = "w2" }},
		"too small": {layerNodes(), "w1", func(n *node) { *n = *of("w1", 6, 3, 40, 40) }},
		"no number": {layerNodes(), "b1", func(n *node) {
			*n = *of("b1", 6)
			n.attrs[0].t.raw = []byte("\x00\x00\xc0\x7f" + string(n.attrs[0].t.raw[4:]))
		}},
		"order":       {moreNodes(), "t1", func(n *node) { n.attrs = []attr{list("perm", 0, 3, 2, 1)} }},
		"rows":        {moreNodes(), "n1", func(n *node) { n.attrs = append(n.attrs, attr{name: "axis", kind: intAttr, i: 2}) }},
		"linear":      {moreNodes(), "w5", func(n *node) { *n = *of("w5", 7, 12) }},
		"turned":      {moreNodes(), "linear", func(n *node) { n.attrs = append(n.attrs, attr{name: "alpha", kind: floatAttr, f: 2}) }},
		"from a one":  {moreNodes(), "h1", func(n *node) { n.op, n.in = "Sub", []string{"three", "c1"} }},
		"one by maps": {moreNodes(), "h4", func(n *node) { n.in = []string{"six", "h3"} }},
		"places":      {moreNodes(), "a3", func(n *node) { n.attrs[0].i = 2 }},
		"channels":    {moreNodes(), "shift", func(n *node) { *n = *of("shift", 16) }},
		"windows":     {moreNodes(), "a1", func(n *node) { n.attrs = append(n.attrs, list("pads", 1, 1, 1, 1)) }},
		"pieces":      {moreNodes(), "m", func(n *node) { n.attrs[0] = list("axes", 2, 3, 1) }},
		"no class":    {tokenNodes(), "all", func(n *node) { n.in = []string{"tokens", "classes"} }},
		"no tokens":   {tokenNodes(), "joint", func(n *node) { n.in = []string{"-1", "2"} }},
		"few places":  {tokenNodes(), "places", func(n *node) { *n = *of("places", 1, 17, 6) }},
		"other mean":  {tokenNodes(), "mean", func(n *node) { n.attrs = []attr{list("axes", 1)} }},
		"power":       {tokenNodes(), "two", func(n *node) { *n = *single("two", 3) }},
		"other root":  {tokenNodes(), "plain", func(n *node) { n.in[0] = "x" }},
		"not turned":  {tokenNodes(), "turned", func(n *node) { n.attrs = []attr{list("perm", 0, 1, 2, 3)} }},
		"softmax":     {tokenNodes(), "weights", func(n *node) { n.attrs[0].i = 2 }},
		"numbers":     {tokenNodes(), "bad", func(n *node) { n.op, n.in = "Equal", []string{"weights", "weights"} }},
		"twice":       {tokenNodes(), "turned", func(n *node) { n.attrs = []attr{list("perm", 0, 1, 3, 3)} }},
		"no weights":  {tokenNodes(), "attended", func(n *node) { n.in[0] = "masked" }},
		"other heads": {tokenNodes(), "q", func(n *node) { n.attrs = []attr{list("perm", 0, 1, 2, 3)} }},
		"edges":       {tanhNodes(), "around", func(n *node) { n.attrs = []attr{{name: "mode", kind: stringAttr, s: "edge"}} }},
		"ones":        {tanhNodes(), "nothing", func(n *node) { *n = *single("nothing", 1) }},
		"one side":    {tanhNodes(), "columns", func(n *node) { n.attrs = []attr{list("perm", 0, 1)} }},
		"two more":    {tanhNodes(), "more", func(n *node) { *n = *single("more", 35) }},
		"no use":      {tanhNodes(), "a1", func(n *node) { n.in = []string{"around", "around"} }},
		"no norms":    {responseNodes(), "responses", func(n *node) { n.in[0] = "x" }},
		"one axis":    {responseNodes(), "norms", func(n *node) { n.attrs = []attr{list("axes", 2)} }},
		"all axes":    {responseNodes(), "norms", func(n *node) { n.attrs = []attr{list("axes", 1, 2, 3)} }},
		"of places":   {responseNodes(), "mean 2", func(n *node) { n.attrs = []attr{list("axes", 1)} }},
		"other norms": {responseNodes(), "responses 2", func(n *node) { n.in[0] = "norms" }},
		"fewer axes": {responseNodes(), "norms", func(n *node) {
			n.attrs = append(n.attrs, attr{name: "keepdims", kind: intAttr})
		}},
		"no place":    {rotaryNodes(1, true), "q done", func(n *node) { n.in = []string{"q sum", "q first"} }},
		"three":       {rotaryNodes(1, true), "k scaled", func(n *node) { n.op, n.in[1] = "Add", "q done" }},
		"by channels": {rotaryNodes(0, true), "k sin", func(n *node) { n.in[0] = "both" }},
		"a part":      {rotaryNodes(2, false), "turned", func(n *node) { n.in[0] = "k sum" }},
		"padding":     {windowNodes(), "none", func(n *node) { n.attrs[0].t = integers([]int64{0, 1, 0, 0, 0, 0, 0, 0}) }},
		"other mask":  {windowNodes(), "mask", func(n *node) { *n = *of("mask", 4, 2, 4, 1, 4) }},
		"no window":   {windowNodes(), "turned", func(n *node) { n.attrs = []attr{list("perm", 0, 1, 5, 2, 4, 3)} }},
		"backwards":   {windowNodes(), "steps", func(n *node) { n.attrs[0].t = integers([]int64{2, -2}) }},
		"other place": {windowNodes(), "down", func(n *node) { n.in[0] = "normed" }},
	} {
		c.change(named(c.nodes, c.value))
		n, err := Open(written(t, c.nodes), "", "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := plain
		if slices.ContainsFunc(c.nodes, func(n *node) bool { return n.out[0] == "classes" }) {
			r.Pool = datasets.MeanToken
		}
		if n.Layers(32, r) != nil {
			t.Errorf("%s: it is layers", name)
		}
	}
	n, err := Open(written(t, layerNodes()), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]datasets.Reading{"order": {Mean: plain.Mean, Std: plain.Std, BGR: true}, "tokens": {Mean: plain.Mean, Std: plain.Std, Pool: datasets.MeanToken}} {
		if n.Layers(32, r) != nil {
			t.Errorf("%s: it is layers", name)
		}
	}
}

// huge reports whether a node is a Constant of a number of which a product with a curve's smallest values is not
// nothing, which saturation would hide.
func huge(n *node) bool {
	t := n.constant()
	if t == nil || t.kind != float32Type {
		return false
	}
	v, err := t.float32s(t.raw)
	return err == nil && slices.ContainsFunc(v, func(x float32) bool { return math.Abs(float64(x)) > 1e18 })
}

// Damaged files end in no panic, and are the same networks with and without a graph.
func TestDamagedLayers(t *testing.T) {
	on := onGo(t)
	train := "testdata/train/"
	for _, file := range []string{train + "vit-dynamo.onnx", train + "vit.onnx", train + "mobilenet.onnx", train + "convnext.onnx", written(t, windowNodes()), written(t, tanhNodes()), written(t, responseNodes()), written(t, rotaryNodes(1, true))} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, compared := seed.New(1, filepath.Base(file)), 0
		path := filepath.Join(t.TempDir(), "n.onnx")
		for range 100 {
			damaged := slices.Clone(b)
			for range 1 + r.IntN(6) {
				if i := r.IntN(len(b)); i%2 == 0 || b[i] > 31 {
					damaged[i] = byte(r.Uint32())
				} else { // likely a number of the graph
					damaged[i] = byte(r.IntN(8))
				}
			}
			if err := os.WriteFile(path, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			n, err := Open(path, "", "")
			if err != nil {
				continue
			}
			d := n.Layers(32, plain)
			if d == nil || slices.ContainsFunc(n.graph.nodes, huge) {
				continue
			}
			x, err := on(n, plain)
			if err != nil { // some of what layers do is not there
				t.Logf("%s: %v", file, err)
				continue
			}
			var all []byte
			for k := range x.Batch {
				all = append(all, image(k%2)...)
			}
			want, err := x.Run(all)
			x.Close()
			if err != nil {
				t.Fatal(err)
			}
			got, large := make([]float32, len(want)/x.Batch), 0.
			d.Worker().Features(got, image(0))
			for _, v := range want[:len(got)] {
				large = max(large, math.Abs(float64(v)))
			}
			for i, v := range want[:len(got)] {
				if !(math.Abs(float64(got[i]-v)) <= 1e-3*large) && large < 1e6 {
					t.Fatalf("%s: feature %d is %v, want %v", file, i, got[i], v)
				}
			}
			compared++
		}
		if compared < 10 {
			t.Errorf("%s: only %d files were compared", file, compared)
		}
	}
}
