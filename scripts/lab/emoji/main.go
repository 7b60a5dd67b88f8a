// Command emoji makes the archives of the data set emoji from pinned npm packages:
//
//	cd scripts/lab && npm ci --prefix emoji && go run ./emoji
//
// It downloads four packages from registry.npmjs.org (156 MB), or reads them from --packages,
// checks their SHA-256, and writes one zip archive per domain to --out. npm ci installs resvg,
// which rasterises SVG. A test of package datasets/emoji has the archives' digests.
//
// The features of EfficientNet-Lite0 beside the archives are made by
//
//	ledg embed --dataset emoji --dtype float16 --out /tmp/lite0.safetensors
//	go run -C scripts/lab ./emoji --features /tmp/lite0.safetensors
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/datasets/emoji"
)

func main() {
	packages := flag.String("packages", "", "folder of downloaded packages (default: download)")
	out := flag.String("out", "../../datasets/emoji", "folder of the archives")
	features := flag.String("features", "", "pack this file of ledg embed into lite0.npz, and make no archives")
	flag.Parse()
	if *features != "" {
		if err := packFeatures(*features, filepath.Join(*out, "lite0.npz")); err != nil {
			fmt.Fprintln(os.Stderr, "emoji:", err)
			os.Exit(1)
		}
		return
	}
	if err := build(*packages, *out); err != nil {
		fmt.Fprintln(os.Stderr, "emoji:", err)
		os.Exit(1)
	}
}

// build makes the archives. An emoji is used if all four artists drew it.
func build(packages, out string) error {
	files := map[string]map[string][]byte{}
	for _, a := range artists {
		archive, err := a.load(packages)
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
