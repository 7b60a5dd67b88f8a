package model

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

const (
	namesData  = "testdata/names/"
	tokenizers = "../../nets/tokenizer/testdata/"
	halfImages = `{"size": 32, "resample": 3, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}`
)

// laidOut writes files into a folder: copies of those named, or given contents.
func laidOut(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, from := range files {
		b, err := os.ReadFile(from)
		if err != nil {
			b = []byte(from)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		fatal.If(t, os.WriteFile(path, b, 0o666))
	}
	return dir
}

// both is one network with the towers of two files, named as exports of open_clip.
func both(t *testing.T, vision, text string) string {
	t.Helper()
	all := &onnxpb.Model{Graph: &onnxpb.Graph{Name: "both"}}
	for i, file := range []string{vision, text} {
		m := fatal.Get(onnxpb.Parse(fatal.Get(os.ReadFile(file))(t)))(t)
		to := map[string]string{"": "", "pixel_values": "image", "image_embeds": "image_features", "input_ids": "text", "text_embeds": "text_features"}
		named := func(s string) string {
			if n, ok := to[s]; ok {
				return n
			}
			return fmt.Sprint(s, " ", i)
		}
		g := m.Graph
		for _, n := range g.Nodes {
			for _, list := range [][]string{n.In, n.Out} {
				for k, s := range list {
					list[k] = named(s)
				}
			}
		}
		for _, w := range g.Weights {
			w.Name = named(w.Name)
		}
		for _, v := range append(g.Inputs, g.Outputs...) {
			v.Name = named(v.Name)
		}
		all.Version, all.Opsets = m.Version, m.Opsets
		all.Graph.Nodes, all.Graph.Weights = append(all.Graph.Nodes, g.Nodes...), append(all.Graph.Weights, g.Weights...)
		all.Graph.Inputs, all.Graph.Outputs = append(all.Graph.Inputs, g.Inputs...), append(all.Graph.Outputs, g.Outputs...)
	}
	return string(fatal.Get(all.Encode())(t))
}

// layouts are networks as they are published, by family.
func layouts(t *testing.T) map[string]string {
	return map[string]string{
		"clip": laidOut(t, map[string]string{"onnx/vision_model.onnx": namesData + "clip/vision_model.onnx", "onnx/text_model.onnx": namesData + "clip/text_model.onnx",
			"tokenizer.json": tokenizers + "clip.json", "preprocessor_config.json": halfImages, "tokenizer_config.json": `{"model_max_length": 77}`}),
		"siglip": laidOut(t, map[string]string{"onnx/vision_model_fp16.onnx": namesData + "siglip/vision_model.onnx", "onnx/text_model_fp16.onnx": namesData + "siglip/text_model.onnx",
			"tokenizer.json": tokenizers + "siglip.json", "preprocessor_config.json": halfImages, "tokenizer_config.json": `{"pad_token": {"content": "</s>"}}`,
			"config.json": `{"text_config": {"max_position_embeddings": 64}}`}),
		"clip of open_clip": laidOut(t, map[string]string{"visual/model.onnx": namesData + "clip/vision_model.onnx", "textual/model.onnx": namesData + "clip/text_model.onnx", "textual/tokenizer.json": tokenizers + "clip.json",
			"open_clip_config.json": `{"model_cfg": {"vision_cfg": {"image_size": 32}, "text_cfg": {"context_length": 77}}, "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "interpolation": "bicubic", "resize_mode": "shortest"}}`}),
		"clip in one file": laidOut(t, map[string]string{"model.onnx": both(t, namesData+"clip/vision_model.onnx", namesData+"clip/text_model.onnx"), "tokenizer.json": tokenizers + "clip.json", "preprocessor_config.json": halfImages}),
	}
}

func nearUnit(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) || !unit(got) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= 2e-5) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// Embeddings of texts and images are PyTorch's, however a network is laid out.
func TestTowers(t *testing.T) {
	var golden map[string]struct {
		Text  [][]float64
		Image []float64
	}
	var texts struct{ Texts []string }
	b := fatal.Get(os.ReadFile(namesData + "golden.json"))(t)
	fatal.If(t, json.Unmarshal(b, &texts))
	json.Unmarshal(b, &golden) // the texts are no such object
	image := make([]byte, 3*32*32)
	for i := range image {
		image[i] = byte(i * i >> 3)
	}
	backends := []string{"go"}
	if os.Getenv(enginetest.RuntimeVariable) != "" {
		backends = append(backends, enginetest.Runtime(t))
	}
	for name, dir := range layouts(t) {
		family, _, _ := strings.Cut(name, " ")
		want := golden[family]
		t.Run(name, func(t *testing.T) {
			if family == "siglip" {
				dir += ":fp16"
			}
			path, ok, err := NetworkInFolder(dir)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			tower := fatal.Get(OpenTextTower(path))(t)
			var rows [][]int64
			for i, text := range texts.Texts {
				row, cut := tower.encode(text)
				if rows = append(rows, row); cut != (i == len(texts.Texts)-1) {
					t.Errorf("%.40q: cut %v", text, cut)
				}
			}
			_, size, r, err := preprocess.Read(path)
			if err != nil || size != 32 || r.Filter != rgb.Bicubic {
				t.Fatal(size, r, err)
			}
			for _, backend := range backends {
				values := fatal.Get(tower.run(t.Context(), backend, rows))(t)
				for i, v := range values {
					nearUnit(t, fmt.Sprintf("%s, %.40q", backend, texts.Texts[i]), v, want.Text[i])
				}
				f := fatal.Get(importFront(datasets.Origin{Weights: path, Size: size, ONNX: &r}))(t)
				x, err := newImportedHere(backend, f.Imported, f.Origin)
				if err != nil && backend == "go" {
					t.Logf("images are for ONNX Runtime: %v", err)
					continue
				}
				fatal.If(t, err)
				v := make([]float32, x.FeatureDim())
				fatal.If(t, x.Worker()(v, image))
				nearUnit(t, backend+", image", v, want.Image)
				x.Close()
			}
			names, err := tower.Embed(t.Context(), "go", []string{"red_fox", "owl"}, []string{"Red Fox", "owl"}, []string{"a {}", "{} at night"})
			if err != nil || len(names.Values) != 2 || names.Family != family || names.Tokenizer == "" || names.Digest == "" {
				t.Fatal(names, err)
			}
			rows = nil
			for _, text := range []string{"a Red Fox", "Red Fox at night"} {
				row, _ := tower.encode(text)
				rows = append(rows, row)
			}
			values := fatal.Get(tower.run(t.Context(), "go", rows))(t)
			mean := make([]float64, len(values[0]))
			for _, v := range values {
				unit(v)
				for j, x := range v {
					mean[j] += float64(x) / 2
				}
			}
			length := 0.0
			for _, v := range mean {
				length += v * v
			}
			for j := range mean {
				mean[j] /= math.Sqrt(length)
			}
			nearUnit(t, "mean of templates", names.Values[0], mean)
		})
	}
}

// What does not fit is an error that names it, before any image.
func TestTowersBad(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"has no text tower: there is no":      {"onnx/vision_model.onnx": namesData + "clip/vision_model.onnx"},
		"has no text tower: it has 2 outputs": {"model.onnx": namesData + "clip/vision_model.onnx"},
		"has no tokenizer":                    {"vision_model.onnx": namesData + "clip/vision_model.onnx", "text_model.onnx": namesData + "clip/text_model.onnx"},
		"is the tokenizer of another network": {"vision_model.onnx": namesData + "siglip/vision_model.onnx", "text_model.onnx": namesData + "siglip/text_model.onnx",
			"tokenizer.json": tokenizers + "clip.json"},
		"which token fills a text up": {"vision_model.onnx": namesData + "siglip/vision_model.onnx", "text_model.onnx": namesData + "siglip/text_model.onnx",
			"tokenizer.json": tokenizers + "siglip.json"},
	} {
		path, _, err := NetworkInFolder(laidOut(t, files))
		fatal.If(t, err)
		fatal.Says(t, fatal.Err(OpenTextTower(path)), want)
	}
	path := filepath.Join(layouts(t)["clip"], "onnx", "vision_model.onnx")
	tower := fatal.Get(OpenTextTower(path))(t)
	for want, c := range map[string]struct{ words, templates []string }{
		`template "a photo" has no {}`:                       {[]string{"fox", "owl"}, []string{"a photo"}},
		"more tokens than the 77":                            {[]string{"fox", strings.Repeat("long name ", 40)}, nil},
		`"x" and "y" have one embedding, of "Fox" and "fox"`: {[]string{"Fox", "fox"}, nil},
	} {
		fatal.Says(t, fatal.Err(tower.Embed(t.Context(), "go", []string{"x", "y"}, c.words, c.templates)), want)
	}
	if _, ok, err := NetworkInFolder(path); ok || err != nil {
		t.Errorf("a file is a folder: %v, %v", ok, err)
	}
}

// A repository's two towers and its tokenizer are fetched, of the number format that is named.
func TestHubNames(t *testing.T) {
	dir := t.TempDir()
	serveHub(t, map[string]string{"onnx/model.onnx": "vit.onnx", "onnx/vision_model_fp16.onnx": "vit.onnx", "onnx/text_model_fp16.onnx": "half.onnx", "onnx/vision_model_q4.onnx": "vit.onnx", "tokenizer.json": "{}", "config.json": "{}", "preprocessor_config.json": halfImages})
	f := fatal.Get(FetchNetwork(t.Context(), "hf:who/vit:fp16", dir, true, nil))(t)
	for _, file := range []string{"text_model_fp16.onnx", "../tokenizer.json", "../config.json", "../preprocessor_config.json"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(f.Path), file)); err != nil {
			t.Error(err)
		}
	}
	fatal.Says(t, fatal.Err(FetchNetwork(t.Context(), "hf:who/vit:q4", dir, true, nil)), "it has no text tower: there is no onnx/text_model_q4.onnx")
	fatal.Says(t, fatal.Err(FetchNetwork(t.Context(), "hf:who/vit:int8", dir, true, nil)), "it has none of onnx/vision_model_int8.onnx")
}
