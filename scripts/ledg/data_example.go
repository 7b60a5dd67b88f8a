package main

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/ledg-go/ledg/datasets/arrays"
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
var exampleStudy string

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
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(exampleStudy), 0o666); err != nil {
		return err
	}
	return writeNpz(filepath.Join(dir, "pool.npz"), examplePool())
}

// writeNpz writes matrices and vectors of integers.
func writeNpz(name string, list map[string]any) error {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, entry := range slices.Sorted(maps.Keys(list)) {
		w, err := z.Create(entry + ".npy")
		if err != nil {
			return err
		}
		var head []byte
		data := list[entry]
		switch v := data.(type) {
		case *mat.Dense:
			rows, cols := v.Dims()
			head, data = arrays.Header("<f8", rows, cols), v.RawMatrix().Data
		case []int64:
			head = arrays.Header("<i8", len(v))
		}
		w.Write(head)
		if err := binary.Write(w, binary.LittleEndian, data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
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

// examplePool returns arrays of a pool file: 600 samples of four overlapping classes in three
// domains, 24 of them labelled, with plausible logits.
func examplePool() map[string]any {
	const samples, labelled, dims, classes, domains = 600, 24, 16, 4, 3
	r := rand.New(rand.NewPCG(1, 2))
	centres := mat.NewDense(classes+domains, dims, nil)
	centres.Apply(func(_, _ int, _ float64) float64 { return 1.5 * r.NormFloat64() }, centres)
	draw := func(n int) (x, classLogits, domainLogits *mat.Dense, class, domain []int64) {
		x, class, domain = mat.NewDense(n, dims, nil), make([]int64, n), make([]int64, n)
		for i := range n {
			class[i], domain[i] = int64(i%classes), int64(i%domains)
			for j := range dims {
				x.Set(i, j, centres.At(i%classes, j)+0.5*centres.At(classes+i%domains, j)+1.5*r.NormFloat64())
			}
		}
		logits := func(first, n int) *mat.Dense {
			var l mat.Dense
			l.Mul(x, centres.Slice(first, first+n, 0, dims).T())
			l.Scale(1/math.Sqrt(dims), &l)
			return &l
		}
		return x, logits(0, classes), logits(classes, domains), class, domain
	}
	x, c, d, class, domain := draw(samples)
	lx, lc, _, lClass, lDomain := draw(labelled)
	return map[string]any{
		"features": x, "class_logits": c, "domain_logits": d, "labels": class, "domains": domain,
		"labelled_features": lx, "labelled_class_logits": lc, "labelled_labels": lClass, "labelled_domains": lDomain,
	}
}
