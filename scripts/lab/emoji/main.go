// Command emoji makes the archives of the data set emoji from pinned npm packages:
//
//	cd scripts/lab && npm ci --prefix emoji && go run ./emoji
//
// It downloads four packages from registry.npmjs.org (156 MB), checks their SHA-256, and writes
// one zip archive per domain. npm ci installs resvg, which rasterises SVG. A test of package datasets/emoji has the archives' digests.
//
// The features of EfficientNet-Lite0 beside the archives are made by
//
//	ledg embed --dataset emoji --dtype float16 --out /tmp/lite0.safetensors
//	go run -C scripts/lab ./emoji --features /tmp/lite0.safetensors
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/datasets/emoji"
)

func main() {
	log.SetFlags(0)
	features := flag.String("features", "", "pack this file of ledg embed into lite0.npz, and make no archives")
	flag.Parse()
	var err error
	if *features != "" {
		err = packFeatures(*features, filepath.Join(out, "lite0.npz"))
	} else {
		err = build()
	}
	if err != nil {
		log.Fatal("emoji: ", err)
	}
}

// out is the folder of the archives.
const out = "../../datasets/emoji"

// build makes the archives. An emoji is used if all four artists drew it.
func build() error {
	files := map[string]map[string][]byte{}
	for _, a := range artists {
		archive, err := a.load()
		if err != nil {
			return err
		}
		if files[a.domain], err = a.unpack(archive); err != nil {
			return fmt.Errorf("%s: %w", a.file(), err)
		}
	}
	if err := rasterise(files["openmoji"]); err != nil {
		return err
	}
	list, err := concepts(files["noto"]["emoji.json"])
	if err != nil {
		return err
	}
	for _, domain := range emoji.Domains() {
		var images []entry
		for _, c := range list {
			if !c.drawn(files) {
				continue
			}
			image, err := render(c.find(domain, files[domain]))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", domain, c.Unified, err)
			}
			images = append(images, entry{c.path(), image})
		}
		data, err := archive(images)
		if err != nil {
			return err
		}
		path := filepath.Join(out, domain+".zip")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d images, %d bytes\n", path, len(images), len(data))
	}
	return nil
}
