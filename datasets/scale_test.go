package datasets

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ledg-go/ledg/datasets/scaletest"
)

// manyFiles writes n images in 6 domains of 345 classes, with IDs of about 60
// bytes, and lets them settle.
func manyFiles(b *testing.B, n int) (root string) {
	b.Helper()
	root = b.TempDir()
	var files [16][]byte
	for i := range files {
		var buf bytes.Buffer
		if err := png.Encode(&buf, noise(uint64(i), 4, 4).ToImage()); err != nil {
			b.Fatal(err)
		}
		files[i] = buf.Bytes()
	}
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("domain_%d", i%6), fmt.Sprintf("class_of_things_%03d", i/6%345))
		if i < 6*345 {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("image_%022d.png", i)), files[i%len(files)], 0o666); err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(settled)
	return root
}

// BenchmarkOpenCached opens a folder of many images whose pixels are in the cache,
// as every run does. The cached images are small: their size does not matter.
func BenchmarkOpenCached(b *testing.B) {
	for _, n := range scaletest.Sizes(b) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			root, cache := manyFiles(b, n), b.TempDir()
			open := func() {
				d, _, err := Open("folder", root, Options{CacheDir: cache})
				if err != nil {
					b.Fatal(err)
				}
				im, err := Prepare(b.Context(), d, 8, cache, nil)
				if err != nil {
					b.Fatal(err)
				}
				im.Close()
			}
			open() // makes the cache
			cpu := scaletest.CPU()
			for b.Loop() {
				open()
			}
			b.ReportMetric((scaletest.CPU()-cpu)/float64(b.N), "cpu-s/open")
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
