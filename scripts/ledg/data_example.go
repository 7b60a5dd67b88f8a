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

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/datasets/emoji"
)

// newDataExampleCommand returns the command that writes what the guides work on.
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

// ofClass returns the paths in a folder.
func ofClass(paths []string, dir string) (list []string) {
	for _, p := range paths {
		if path.Dir(p) == dir {
			list = append(list, p)
		}
	}
	return list
}

// writeLabels writes rows of id and label.
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
