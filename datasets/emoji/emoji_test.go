package emoji

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The archives are those that scripts/lab/emoji makes.
func TestArchives(t *testing.T) {
	decoder := fatal.Get(zstd.NewReader(nil))(t)
	defer decoder.Close()
	for domain, want := range map[string]string{
		"fluent":   "f275d0392d24464284017dca917cfad35bdb39704e9e6b5f07f53dbd7c1310fa",
		"noto":     "226f65fbda7c729e96a5bfd0fce27fb7fa200626782cba3d233c27d2b6f8c7cc",
		"openmoji": "d8588136464ace39eb4989946979a71398538ee71abd1803a126e10dc448c31f",
		"twemoji":  "c665a1013e5436439acbb009ae9800d1be141ff4876de1770f5e7e89a9b2c8f3",
	} {
		data := fatal.Get(decoder.DecodeAll(fatal.Get(archives.ReadFile(domain+".zip.zst"))(t), nil))(t)
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
