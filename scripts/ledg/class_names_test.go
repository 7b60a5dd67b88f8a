package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// colourNetwork is a network of images and texts whose answer is known: the mean colour of an image, and the
// colours that a text names.
func colourNetwork(t *testing.T, dir string) string {
	t.Helper()
	node := func(op, out string, in []string, attributes ...*onnxpb.Attribute) *onnxpb.Node {
		return &onnxpb.Node{Op: op, In: in, Out: []string{out}, Attributes: attributes}
	}
	pieces := []string{"<pad>", "</s>", "<unk>", "▁", "▁red", "▁green", "▁blue", "▁a", "▁photo", "▁of", "▁this", "▁is", ".", "▁grass", "i", "n", "k"}
	table := make([]float32, 3*len(pieces))
	for piece, c := range map[int][3]float32{4: {1, -1, -1}, 5: {-1, 1, -1}, 6: {-1, -1, 1}, 13: {-1, 1, -1}} {
		copy(table[3*piece:], c[:])
	}
	output := func(name string) *onnxpb.Value {
		return &onnxpb.Value{Name: name, Type: &onnxpb.Type{Tensor: &onnxpb.TensorType{Element: onnxpb.Float32}}}
	}
	m := &onnxpb.Model{Version: 8, Opsets: []*onnxpb.Opset{{Version: 17}}, Graph: &onnxpb.Graph{Name: "colours",
		Nodes: []*onnxpb.Node{
			node("GlobalAveragePool", "image_embeds", []string{"pixel_values"}),
			node("Gather", "rows", []string{"table", "input_ids"}),
			node("ReduceMean", "text_embeds", []string{"rows"}, onnxpb.Ints("axes", 1), onnxpb.Int("keepdims", 0)),
		},
		Weights: []*onnxpb.Tensor{onnxpb.Floats("table", []int{len(pieces), 3}, table...)},
		Inputs:  []*onnxpb.Value{onnxpb.NewValue("pixel_values", "", onnxpb.Float32, -1, 3, 32, 32), onnxpb.NewValue("input_ids", "", onnxpb.Int64, -1, -1)},
		Outputs: []*onnxpb.Value{output("image_embeds"), output("text_embeds")}}}
	var vocab []string
	for i, p := range pieces {
		vocab = append(vocab, `["`+p+`", -`+string(rune('1'+i%9))+`]`)
	}
	for name, b := range map[string][]byte{
		"model.onnx":               fatal.Get(m.Encode())(t),
		"preprocessor_config.json": []byte(`{"size": 32, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}`),
		"tokenizer_config.json":    []byte(`{"model_max_length": 12, "pad_token": "<pad>"}`),
		"tokenizer.json": []byte(`{"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
			"model": {"type": "Unigram", "unk_id": 2, "vocab": [` + strings.Join(vocab, ", ") + `]}}`),
	} {
		fatal.If(t, os.MkdirAll(dir, 0o777))
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
	}
	return dir
}

// Names alone predict without a run and without a label, and their embeddings are in the file of features,
// from which a head is trained: notebooks/guides/features.md.
func TestClassNames(t *testing.T) {
	dir := t.TempDir()
	net, root, unlabelled := colourNetwork(t, filepath.Join(dir, "net")), filepath.Join(dir, "photos"), filepath.Join(dir, "unlabelled")
	for name, c := range map[string]color.RGBA{"red": {255, 20, 20, 255}, "green": {20, 250, 30, 255}, "blue": {10, 20, 240, 255}} {
		for _, site := range []string{"north", "south"} {
			for _, at := range []string{"1", "2", "3"} {
				picture := image.NewRGBA(image.Rect(0, 0, 40, 40))
				for i := range 1600 {
					shade := uint8(int(at[0])*i%9 + len(site))
					picture.SetRGBA(i%40, i/40, color.RGBA{c.R - shade, c.G - shade, c.B - shade, 255})
				}
				var b bytes.Buffer
				fatal.If(t, png.Encode(&b, picture))
				for _, path := range []string{filepath.Join(root, site, name, at+".png"), filepath.Join(unlabelled, site, name+" "+at+".png")} {
					fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
					fatal.If(t, os.WriteFile(path, b.Bytes(), 0o666))
				}
			}
		}
	}
	table := filepath.Join(dir, "p.csv")
	predict := []string{"predict", "--net", net, "--names", "auto", "--backend", "go", "--images", root, "--out", table}
	stdout, stderr, status := call(t, dir, append(predict, "--classes", "red,green=grass,blue")...)
	if status != 0 || !strings.Contains(stdout, "18 images") || !strings.Contains(stdout, "accuracy of names alone: perhaps") || !strings.Contains(stderr, "not calibrated") {
		t.Fatalf("predict: status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	lines := strings.Split(strings.TrimSpace(string(fatal.Get(os.ReadFile(table))(t))), "\n")
	for _, line := range lines[1:] {
		cells := strings.Split(line, ",")
		if class := filepath.Base(filepath.Dir(cells[0])); cells[1] != class || cells[6] != "" || cells[7] != "" || cells[8] != "" {
			t.Errorf("row %s, want class %s, and nothing that needs labels", line, class)
		}
	}
	boxes, templates := filepath.Join(dir, "boxes.csv"), filepath.Join(dir, "templates.txt")
	fatal.If(t, os.WriteFile(boxes, []byte("path,x,y,w,h\nnorth/red/1.png,0.1,0.1,0.5,0.5\n"), 0o666))
	fatal.If(t, os.WriteFile(templates, []byte("\ufeffa photo of {}\n"), 0o666))
	if stdout, stderr, status := call(t, dir, append(predict, "--classes", "red,green,blue", "--boxes", boxes, "--names", templates)...); status != 0 || !strings.Contains(stdout, "1 box of any class") ||
		!strings.Contains(string(fatal.Get(os.ReadFile(table))(t)), `0.5",red,`) {
		t.Errorf("predict of boxes: status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	file := filepath.Join(dir, "f.safetensors")
	embed := []string{"embed", "--dataset", "folder", "--root", root, "--net", net, "--backend", "go", "--out", file}
	if stdout, stderr, status := call(t, dir, append(embed, "--names", "a photo of {}")...); status != 0 || !strings.Contains(stdout, "class names by model.onnx, siglip") {
		t.Fatalf("embed: status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	stdout, stderr, status = call(t, dir, "probe", "--pool", file, "--head", "zero-shot")
	if status != 0 || strings.Count(stdout, "100") < 2 || !strings.Contains(stdout, "south") {
		t.Errorf("probe: status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	train := []string{"train", "--dataset", "features", "--root", file, "--target", "south", "--budget", "6", "--epochs", "1", "--backend", "go", "--no-estimate", "--out", filepath.Join(dir, "run")}
	if stdout, stderr, status := call(t, dir, append(train, "--names")...); status != 0 || !strings.Contains(stdout, "names alone (0 labels)") || !strings.Contains(stdout, "100.00") || !strings.Contains(stdout, "labels do not pay yet") {
		t.Errorf("train: status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	stdout, stderr, status = call(t, dir, "eval", filepath.Join(dir, "run"))
	if status != 0 || !strings.Contains(stdout, "names alone (0 labels)") {
		t.Errorf("eval: status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	html := filepath.Join(dir, "report.html")
	if _, stderr, status := call(t, dir, "report", filepath.Join(dir, "run"), "--out", html); status != 0 || !strings.Contains(string(fatal.Get(os.ReadFile(html))(t)), "test, names alone") {
		t.Errorf("report: status %d, stderr %s", status, stderr)
	}
	train[len(train)-1] = filepath.Join(dir, "adjusted")
	if _, stderr, status := call(t, dir, append(train, "--objective", "erm", "--strategy", "uniform", "--logit-adjustment", "1", "--initial", "names")...); status != 0 {
		t.Errorf("adjusted: status %d, stderr %s", status, stderr)
	}
	people := filepath.Join(dir, "people.safetensors")
	if _, stderr, status := call(t, dir, "embed", "--dataset", "folder", "--root", unlabelled, "--layout", "{site}/{name}", "--classes", "red,green,blue", "--net", net, "--backend", "go", "--names", "auto", "--out", people); status != 0 {
		t.Fatal(stderr)
	}
	run := filepath.Join(dir, "asked")
	_, stderr, status = call(t, dir, "train", "--names", "--dataset", "features", "--root", people, "--target", "south", "--budget", "6", "--epochs", "1", "--backend", "go", "--no-estimate", "--out", run,
		"--initial", "names", "--oracle", "ask")
	if asked := string(fatal.Get(os.ReadFile(filepath.Join(run, "labels.jsonl")))(t)); status != 3 || strings.Count(asked, `"model":"names"`) < 3 || !strings.Contains(asked, `"predicted":"blue"`) {
		t.Errorf("ask: status %d, stderr %s, labels.jsonl %s", status, stderr, asked)
	}
	labelAll(t, run)
	for _, args := range [][]string{{"train", "--resume", "--out", run, "--backend", "go"}, {"report", run, "--out", html}, {"predict", run, "--images", unlabelled, "--out", table, "--backend", "go"}} {
		if _, stderr, status := call(t, dir, args...); status != 0 {
			t.Errorf("%q: status %d, stderr %s", args, status, stderr)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(string(fatal.Get(os.ReadFile(table))(t))), "\n")[1:] {
		if cells := strings.Split(line, ","); !strings.HasPrefix(filepath.Base(cells[0]), cells[1]+" ") {
			t.Errorf("the run predicts %s", line)
		}
	}
	half := filepath.Join(dir, "half")
	fatal.If(t, os.CopyFS(half, os.DirFS(net)))
	fatal.If(t, os.Rename(filepath.Join(half, "model.onnx"), filepath.Join(half, "model_fp16.onnx")))
	plain := filepath.Join(dir, "plain.safetensors")
	if _, stderr, status := call(t, dir, append(embed[:len(embed)-1:len(embed)-1], plain)...); status != 0 {
		t.Fatal(stderr)
	}
	for want, args := range map[string][]string{
		"it needs class names":                        {"train", "--dataset", "features", "--root", plain, "--target", "south", "--budget", "6", "--epochs", "1", "--backend", "go", "--objective", "logistic", "--strategy", "uniform", "--initial", "names", "--out", filepath.Join(dir, "none")},
		"erm does not read them":                      append(train, "--names", "--objective", "erm"),
		"fixmatch does not read them":                 append(train, "--names", "--method", "fixmatch"),
		"it is for erm and for heads":                 append(train, "--objective", "fixmatch", "--strategy", "uniform", "--logit-adjustment", "1"),
		"it compares directions":                      append(train, "--objective", "clap", "--normalise", "none", "--preset", "authors"),
		"has no {}, the place of a class's name":      append(embed, "--names", "a photo"),
		"have one embedding":                          append(predict, "--classes", "red,scarlet=red,blue"),
		"--names without a run needs --net":           {"predict", "--names", "auto", "--images", root, "--out", table},
		"are for predictions by names alone":          {"predict", "run", "--images", root, "--out", table, "--pool", "cls"},
		`"rot" has words and is no class here`:        append(embed, "--dataset", "emoji", "--root", "", "--names", "auto", "--classes", "rot=red,x=y"),
		"the images have no classes":                  append(embed, "--names", "auto", "--layout", "{site}/**/{name}"),
		"requires at least 1 arg":                     {"predict", "--images", root, "--out", table},
		"more tokens than the 12":                     append(predict, "--classes", "red,blue=a photo of a photo of a photo of a photo of a photo"),
		"--names needs a network of images":           {"embed", "--dataset", "glyphs", "--net", "smallcnn", "--weights", "none", "--names", "auto", "--out", file},
		"name its number format, such as FOLDER:fp16": {"predict", "--net", half, "--names", "auto", "--classes", "a,b", "--images", root, "--out", table},
		"has no network: want one of":                 {"predict", "--net", root, "--names", "auto", "--classes", "a,b", "--images", root, "--out", table},
	} {
		if _, stderr, status := call(t, dir, args...); status == 0 || !strings.Contains(stderr, want) || strings.Count(strings.TrimSpace(stderr), "\n") > 0 {
			t.Errorf("%q: status %d, stderr %s, want one line with %q", args, status, stderr, want)
		}
	}
}
