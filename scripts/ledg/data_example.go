package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/datasets/emoji"
)

func newDataExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "example DIR",
		Annotations: map[string]string{guide: "photos.md"},
		Short:       "Write example photos and files to try the guides on",
		Long: `Write a folder in which the commands of the guides work as they are written. Its photos are
emoji of two classes, mammal and vehicle. Each site has another artist.

  photos/{east,south,west}   120 photos without labels, and labels.csv with their labels
  new-photos, more           photos to predict, of a known site and of a new one
  north                      photos of a new site, and north.csv with their labels
  card/{c1,c2}, new-card/c3  bursts of cameras, card.csv with labels, and md.json with boxes,
                             as MegaDetector writes them
  pool.npz                   outputs of somebody else's network, for ledg query
  study.yaml                 a small study, for ledg study run

Whose the images are is in LICENCES.`,
		Example: "  ledg data example try && cd try",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if exists(args[0]) {
				return usagef("%s exists; name a new folder", args[0])
			}
			if err := writeExample(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s has example photos of 3 sites, a new site, labels, a pool and a study\n", args[0])
			return err
		},
	}
}

// exampleClasses are classes of emoji and their names in the example.
var exampleClasses = [][2]string{{"mammal", "mammal"}, {"transport", "vehicle"}}

// exampleFolders have images from..to-1 of each class by one of emoji's artists.
var exampleFolders = []struct {
	dir, artist string
	from, to    int
	labels      string // file of labels that the images are listed in, or ""
}{
	{"photos/east", "fluent", 0, 20, "labels.csv"},
	{"photos/south", "noto", 0, 20, "labels.csv"},
	{"photos/west", "openmoji", 0, 20, "labels.csv"},
	{"new-photos", "fluent", 20, 26, ""},
	{"north", "twemoji", 0, 40, "north.csv"},
	{"more", "twemoji", 40, 50, ""},
}

//go:embed example-study.yaml
var exampleStudy []byte

// examplePool is a pool file: 600 samples of four overlapping classes in three domains, drawn at
// random, 24 of them labelled, with plausible logits.
//
//go:embed example-pool.npz
var examplePool []byte

// writeExample writes what newDataExampleCommand says.
func writeExample(dir string) error {
	images, err := emoji.Open()
	if err != nil {
		return err
	}
	paths, err := emoji.List()
	if err != nil {
		return err
	}
	rows := map[string][][]string{}
	for _, f := range exampleFolders {
		if err := os.MkdirAll(filepath.Join(dir, f.dir), 0o777); err != nil {
			return err
		}
		for _, c := range exampleClasses {
			for _, p := range ofClass(paths, f.artist+"/"+c[0])[f.from:f.to] {
				data, err := fs.ReadFile(images, p)
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(dir, f.dir, path.Base(p)), data, 0o666); err != nil {
					return err
				}
				if f.labels != "" { // IDs are paths below the folder that a command is called with
					_, id, _ := strings.Cut(f.dir+"/"+path.Base(p), "/")
					rows[f.labels] = append(rows[f.labels], []string{id, c[1]})
				}
			}
		}
	}
	if err := writeCard(dir, images, paths, rows); err != nil {
		return err
	}
	for name, list := range rows {
		if err := writeLabels(filepath.Join(dir, name), list); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENCES"), []byte(emoji.Licences), 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), exampleStudy, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "pool.npz"), examplePool, 0o666)
}

// writeCard writes bursts of two photos by each camera, with times in their names, and a detector's file that has a
// box in all photos but those of every sixth burst.
func writeCard(dir string, images fs.FS, paths []string, rows map[string][][]string) error {
	var found []string
	for c, camera := range []string{"c1", "c2", "c3"} {
		card := []string{"card", "card", "new-card"}[c]
		if err := os.MkdirAll(filepath.Join(dir, card, camera), 0o777); err != nil {
			return err
		}
		for k := range 48 {
			class, at := exampleClasses[k/2%2], time.Date(2026, 5, 1+c, 6, 10*(k/2), 3*(k%2), 0, time.UTC)
			data, err := fs.ReadFile(images, ofClass(paths, []string{"noto", "fluent", "twemoji"}[c]+"/"+class[0])[k/4*2+k%2])
			if err != nil {
				return err
			}
			id, boxes := camera+"/IMG_"+at.Format("20060102_150405")+".webp", `{"category": "1", "conf": 0.9, "bbox": [0.05, 0.05, 0.9, 0.9]}`
			if k/2%6 == 5 {
				boxes = ""
			} else if card == "card" {
				rows["card.csv"] = append(rows["card.csv"], []string{id, class[1]})
			}
			found = append(found, fmt.Sprintf(` {"file": %q, "detections": [%s]}`, id, boxes))
			if err := os.WriteFile(filepath.Join(dir, card, filepath.FromSlash(id)), data, 0o666); err != nil {
				return err
			}
		}
	}
	text := `{"images": [` + "\n" + strings.Join(found, ",\n") + `], "detection_categories": {"1": "animal", "2": "person", "3": "vehicle"}, "info": {"format_version": "1.3", "detector": "example"}}`
	return os.WriteFile(filepath.Join(dir, "md.json"), []byte(text+"\n"), 0o666)
}

func ofClass(paths []string, dir string) (list []string) {
	for _, p := range paths {
		if path.Dir(p) == dir {
			list = append(list, p)
		}
	}
	return list
}

func writeLabels(name string, rows [][]string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if err := w.WriteAll(append([][]string{{"id", "label"}}, rows...)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
