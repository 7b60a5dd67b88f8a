package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/datasets/clothes"
	"github.com/ledg-go/ledg/datasets/emoji"
)

func newDataExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "example DIR",
		Annotations: map[string]string{guide: "photos.md"},
		Short:       "Write example photos and files to try the guides on",
		Long: `Write a folder in which the commands of the guides work as they are written. Its photos are
of clothes, of the classes longsleeve, pants and t-shirt. Each home is a site.

  photos/home{01,02,03}      120 photos without labels, and labels.csv with their labels
  new-photos, more           photos to predict, of home01 and of the new site
  many                       photos of a new site, many people's, and many.csv with their labels
  card/{c1,c2}, new-card/c3  bursts of cameras, drawings of a mammal or vehicle, card.csv with
                             labels, and md.json with boxes, as MegaDetector writes them
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
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s has example photos of 3 homes, a new site, labels, a pool and a study\n", args[0])
			return err
		},
	}
}

// exampleClasses are the classes of the example's photos, of package clothes.
var exampleClasses = []string{"longsleeve", "pants", "t-shirt"}

// exampleFolders have n photos of a site of package clothes. No photo is in two folders.
var exampleFolders = []struct {
	dir, site string
	n         int
	labels    string // file of labels that the photos are listed in, or ""
}{
	{"photos/home01", "home01", 40, "labels.csv"},
	{"photos/home02", "home02", 40, "labels.csv"},
	{"photos/home03", "home03", 40, "labels.csv"},
	{"new-photos", "home01", 12, ""},
	{"many", clothes.Others, 80, "many.csv"},
	{"more", clothes.Others, 20, ""},
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
	photos, err := clothes.Open()
	if err != nil {
		return err
	}
	left := map[string][]string{} // by site
	for _, f := range photos.File {
		if class := path.Dir(f.Name); slices.Contains(exampleClasses, path.Base(class)) {
			left[path.Dir(class)] = append(left[path.Dir(class)], f.Name)
		}
	}
	rows := map[string][][]string{}
	for _, f := range exampleFolders {
		if err := os.MkdirAll(filepath.Join(dir, f.dir), 0o777); err != nil {
			return err
		}
		all := left[f.site]
		left[f.site] = nil
		for k, p := range all {
			if (k+1)*f.n/len(all) == k*f.n/len(all) { // evenly spaced, so that classes keep their shares
				left[f.site] = append(left[f.site], p)
				continue
			}
			if err := copyImage(filepath.Join(dir, f.dir, path.Base(p)), photos, p); err != nil {
				return err
			}
			if f.labels != "" { // IDs are paths below the folder that a command is called with
				_, id, _ := strings.Cut(f.dir+"/"+path.Base(p), "/")
				rows[f.labels] = append(rows[f.labels], []string{id, path.Base(path.Dir(p))})
			}
		}
	}
	if err := writeCard(dir, rows); err != nil {
		return err
	}
	for name, list := range rows {
		if err := writeLabels(filepath.Join(dir, name), list); err != nil {
			return err
		}
	}
	for name, data := range map[string][]byte{"LICENCES": []byte(clothes.Licences + "\n" + emoji.Licences), "study.yaml": exampleStudy, "pool.npz": examplePool} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// copyImage writes an image of an archive to a file.
func copyImage(file string, images fs.FS, name string) error {
	data, err := fs.ReadFile(images, name)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}

// cardClasses are classes of emoji and their names on the card.
var cardClasses = [][2]string{{"mammal", "mammal"}, {"transport", "vehicle"}}

// writeCard writes bursts of two pictures of an emoji by each camera, with times in their names, and a detector's file that has a
// box in all photos but those of every sixth burst.
func writeCard(dir string, rows map[string][][]string) error {
	images, err := emoji.Open()
	if err != nil {
		return err
	}
	paths, err := emoji.List()
	if err != nil {
		return err
	}
	var found []string
	for c, camera := range []string{"c1", "c2", "c3"} {
		card := []string{"card", "card", "new-card"}[c]
		if err := os.MkdirAll(filepath.Join(dir, card, camera), 0o777); err != nil {
			return err
		}
		for k := range 48 {
			class, at := cardClasses[k/2%2], time.Date(2026, 5, 1+c, 6, 10*(k/2), 3*(k%2), 0, time.UTC)
			id, boxes := camera+"/IMG_"+at.Format("20060102_150405")+".webp", `{"category": "1", "conf": 0.9, "bbox": [0.05, 0.05, 0.9, 0.9]}`
			if k/2%6 == 5 {
				boxes = ""
			} else if card == "card" {
				rows["card.csv"] = append(rows["card.csv"], []string{id, class[1]})
			}
			found = append(found, fmt.Sprintf(` {"file": %q, "detections": [%s]}`, id, boxes))
			of := ofClass(paths, []string{"noto", "fluent", "twemoji"}[c]+"/"+class[0])
			if err := copyImage(filepath.Join(dir, card, filepath.FromSlash(id)), images, of[k/4*2+k%2]); err != nil {
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
