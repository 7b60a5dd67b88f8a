package page_test

import (
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// images writes perClass drawn digits of each of the first classes digits in every
// style to root/style/digit, and returns root.
func images(tb testing.TB, classes, perClass int) string {
	tb.Helper()
	root := filepath.Join(tb.TempDir(), "pictures")
	d, truth := fatal.Get2(datasets.Glyphs(perClass))(tb)
	for i, e := range d.Examples {
		if truth.Class(i) >= classes {
			continue
		}
		m := fatal.Get(d.Image(i))(tb)
		save(tb, filepath.Join(root, filepath.FromSlash(e.ID)), m.ToImage())
	}
	return root
}

// save writes a picture as PNG.
func save(tb testing.TB, file string, m image.Image) {
	tb.Helper()
	fatal.If(tb, os.MkdirAll(filepath.Dir(file), 0o777))
	f := fatal.Get(os.Create(file))(tb)
	fatal.If(tb, png.Encode(f, m))
	fatal.If(tb, f.Close())
}

// folder opens the images in a folder.
func folder(tb testing.TB, root string) *datasets.Dataset {
	tb.Helper()
	d, _ := fatal.Get2(datasets.Open("folder", root, datasets.Options{CacheDir: tb.TempDir()}))(tb)
	return d
}

// animals are names for ten digits, so that keys and names differ.
var animals = []string{"ant", "bear", "cat", "dog", "elk", "fox", "goat", "hare", "ibis", "jay"}

// options are those of a page that asks about all images of a folder.
func options(tb testing.TB, d *datasets.Dataset, root, ledger string, classes []string) page.Options {
	tb.Helper()
	l := fatal.Get(page.OpenLedger(ledger, d, classes, labels.Newest))(tb)
	tb.Cleanup(func() { l.Close() })
	return page.Options{Title: filepath.Base(root), Data: d, Root: root, Classes: classes, Ledger: l, By: []string{"ann"}, Rest: true, Seed: 1,
		Next: "ledg train --dataset folder --root pictures --target print --labels pictures/labels.jsonl"}
}

// serve serves a page until the test ends, and returns its address.
func serve(tb testing.TB, o page.Options) (*page.Server, string) {
	tb.Helper()
	s := fatal.Get(page.New(o))(tb)
	h := httptest.NewServer(s)
	tb.Cleanup(func() { h.Close(); s.Close() })
	return s, h.URL + s.Path(o.By[0])
}

// classOf returns the class of an image by its folder, domain/digit/file.
func classOf(id string) string {
	return animals[filepath.Base(filepath.Dir(filepath.FromSlash(id)))[0]-'0']
}

// state folds the ledger in a folder.
func state(tb testing.TB, dir string) *labels.State {
	tb.Helper()
	st, note, err := labels.Read(os.DirFS(dir), labels.File, nil, labels.Options{})
	if err != nil || note != "" {
		tb.Fatal(err, note)
	}
	return st
}
