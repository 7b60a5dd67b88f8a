// Package embeddingtest writes files of features for tests.
package embeddingtest

import (
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// Glyphs writes features of some glyphs by a randomly initialised network.
func Glyphs(t testing.TB, views int) string { return GlyphsOf(t, 10, views) }

// GlyphsOf is Glyphs with a number of images per class and domain.
func GlyphsOf(t testing.TB, perClass, views int) string {
	t.Helper()
	d, truth := fatal.Get2(datasets.Glyphs(perClass))(t)
	x := fatal.Get(model.NewExtractor("go", nets.SmallCNN(12, config.MeanPool), 32, nil, 1))(t)
	defer x.Close()
	path := filepath.Join(t.TempDir(), "glyphs.safetensors")
	fatal.If(t, embedding.Write(t.Context(), path, d, truth, x, embedding.Options{Size: 32, Views: views, Seed: 1, Origin: datasets.Origin{
		Dataset: "glyphs", Network: "smallcnn", Width: 12, Pooling: string(config.MeanPool), Weights: config.NoWeights}}))
	return path
}
