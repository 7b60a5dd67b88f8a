package emoji

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/zst"
)

// The archives are those that scripts/lab/emoji makes.
func TestArchives(t *testing.T) {
	for domain, want := range map[string]string{
		"fluent":   "8b704dc92a3ba54a8f7124fd575f0b28ca52db63530af72b79c942d4d0ffcf3d",
		"noto":     "b885c7662f2693fbd37a03fb0d24e5b88f9a45971378200e515d10880e1f7426",
		"openmoji": "b14c6471fbb1ece74edc1a06c2736a5e4488ca8f830d755008d824a89338d61f",
		"twemoji":  "295ad6a15caafcff788a775ba329f21ba0be28af763d4e13a69f8384e439311b",
	} {
		data := zst.Decode(t, fatal.Get(archives.ReadFile(domain+".zip.zst"))(t))
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != want {
			t.Errorf("%s: SHA-256 %s, want %s: run scripts/lab/emoji", domain, got, want)
		}
	}
}

// Every class has the same number of images in every domain.
func TestCounts(t *testing.T) {
	want := map[string]int{"bird": 21, "building": 33, "clothing": 47, "creature": 42, "device": 47, "dish": 65,
		"drink": 27, "face": 107, "hand": 43, "mammal": 66, "office": 53, "plant": 28, "produce": 36, "tool": 50,
		"transport": 72, "weather": 47}
	list := fatal.Get(List())(t)
	got := map[string]int{}
	for _, p := range list {
		got[path.Dir(p)]++
	}
	for _, domain := range Domains() {
		for _, class := range Classes() {
			if n := got[domain+"/"+class]; n != want[class] {
				t.Errorf("%s/%s has %d images, want %d", domain, class, n, want[class])
			}
		}
	}
}

func TestLicences(t *testing.T) {
	for _, domain := range Domains() {
		if !strings.Contains(Licences, "\n"+domain+" ") {
			t.Errorf("LICENCES does not name %s", domain)
		}
	}
}
