// Package artifact stores the features of a finished run's labelled images and the logits of its
// validation and test images, so that predictions, reports and calibration work without the
// images. [Read] reads it from a run's folder.
package artifact

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// File is the artifact's file name in a run's folder.
const File = "kept.safetensors"

// Artifact is the content of a [File].
type Artifact struct {
	// Domains and Classes are the data set's.
	Domains, Classes []string
	// Features [queries, D] belong to the images of queries.csv, in its order; Dim is D.
	Features []float32
	Dim      int
	// Measured are the validation and target images of known class, Class their classes, and
	// Logits [measured, classes] the network's class logits.
	Measured []datasets.Example
	Class    []int
	Logits   []float32
	// Seen [domains, classes] counts predicted classes of unlabelled images. Unsure holds the
	// least confident images of each domain, least confident first.
	Seen   [][]int
	Unsure []Seen
	// Estimate is the cross-validated accuracy estimate for runs without measured images, or
	// nil. Missed are labelled images that cross-validation misclassifies.
	Estimate *audit.Estimate
	Missed   []Missed
	// Crossed holds the logits of that cross-validation, nil without an estimate by the run's own
	// training.
	Crossed *Crossed
	// Novelty is the threshold of audit.Strangeness; nil in older runs.
	Novelty *audit.Novelty
	// Strangers [n, Dim] are the features of images that show none of the classes.
	Strangers []float32
}

// Crossed holds cross-validated logits of the labelled images: each by a network that was trained
// without the image.
type Crossed struct {
	// Class [n] are the true classes.
	Class []int
	// Folds [n, classes] are logits of the folds, whose networks know the image's domain. LeftOut
	// [n, classes] are those without any label of the domain. Rows that no network predicted are
	// NaN.
	Folds, LeftOut []float32
}

// NewCrossed returns logits of NaN for images of the given classes.
func NewCrossed(class []int, classes int) *Crossed {
	x := &Crossed{Class: class, Folds: make([]float32, len(class)*classes)}
	for i := range x.Folds {
		x.Folds[i] = float32(math.NaN())
	}
	x.LeftOut = slices.Clone(x.Folds)
	return x
}

// Add sets the logits of image i: the first are its fold's, the second those of its domain left
// out, the order of audit.Cross.
func (x *Crossed) Add(i int, logits []float32) {
	at := i * len(logits)
	to := x.Folds
	if to[at] == to[at] { // not NaN
		to = x.LeftOut
	}
	copy(to[at:], logits)
}

// Labelled returns the predicted rows of Folds and LeftOut with their classes.
func (x *Crossed) Labelled() (folds, leftOut calibration.Labelled) {
	classes := len(x.Folds) / max(len(x.Class), 1)
	of := func(rows []float32) (l calibration.Labelled) {
		for i, c := range x.Class {
			if row := rows[i*classes : (i+1)*classes]; row[0] == row[0] {
				l.Logits, l.Class = append(l.Logits, row), append(l.Class, c)
			}
		}
		return l
	}
	return of(x.Folds), of(x.LeftOut)
}

// Missed is a misclassified image.
type Missed struct {
	ID    string `json:"id"`
	Class int    `json:"class"`
	Seen  int    `json:"seen"`
}

// Seen is an image with its predicted class.
type Seen struct {
	ID          string  `json:"id"`
	Domain      int     `json:"domain"`
	Class       int     `json:"class"`
	Probability float64 `json:"probability"`
}

// least is how many images of a domain are in Unsure.
const least = 12

// names is the JSON in the file's metadata.
type names struct {
	Domains  []string        `json:"domains"`
	Classes  []string        `json:"classes"`
	Measured []string        `json:"measured"`
	Seen     [][]int         `json:"seen"`
	Unsure   []Seen          `json:"unsure"`
	Estimate *audit.Estimate `json:"estimate"`
	Missed   []Missed        `json:"missed"`
	Novelty  *audit.Novelty  `json:"novelty,omitempty"`
}

const namesKey = "ledg"

// Write writes a [File].
func (k *Artifact) Write(w io.Writer) error {
	n := names{Domains: k.Domains, Classes: k.Classes, Seen: k.Seen, Unsure: k.Unsure, Estimate: k.Estimate, Missed: k.Missed, Novelty: k.Novelty}
	for _, e := range k.Measured {
		n.Measured = append(n.Measured, e.ID)
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	var entries []safetensors.Entry
	add := func(name string, dtype safetensors.DType, cols int, values any) {
		data, err := binary.Append(nil, binary.LittleEndian, values)
		if err != nil { // not a slice of numbers
			panic(err)
		}
		shape := []int{len(data) / 4}
		if cols > 0 {
			shape = []int{shape[0] / cols, cols}
		}
		entries = append(entries, safetensors.Entry{Name: name, DType: dtype, Shape: shape, Data: data})
	}
	add("features", safetensors.Float32, k.Dim, k.Features)
	if len(k.Strangers) > 0 {
		add("strangers", safetensors.Float32, k.Dim, k.Strangers)
	}
	if x := k.Crossed; x != nil {
		class := make([]int32, len(x.Class))
		for i, c := range x.Class {
			class[i] = int32(c)
		}
		add("crossed_class", safetensors.Int32, 0, class)
		add("crossed_folds", safetensors.Float32, len(k.Classes), x.Folds)
		add("crossed_left_out", safetensors.Float32, len(k.Classes), x.LeftOut)
	}
	if len(k.Measured) > 0 {
		domain, split, class := make([]int32, len(k.Measured)), make([]int32, len(k.Measured)), make([]int32, len(k.Measured))
		for i, e := range k.Measured {
			domain[i], split[i], class[i] = int32(e.Domain), int32(e.Split), int32(k.Class[i])
		}
		add("logits", safetensors.Float32, len(k.Classes), k.Logits)
		add("domain", safetensors.Int32, 0, domain)
		add("split", safetensors.Int32, 0, split)
		add("class", safetensors.Int32, 0, class)
	}
	return safetensors.Write(w, entries, map[string]string{namesKey: string(text)})
}

// Read reads the [File] of a run's folder; nil if there is none, as for unfinished and older
// runs.
func Read(dir string) (k *Artifact, err error) {
	path := filepath.Join(dir, File)
	f, err := arrays.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var n names
	if err := json.Unmarshal([]byte(f.Metadata()[namesKey]), &n); err != nil {
		return nil, fmt.Errorf("%s: %s in the metadata: %w", path, namesKey, err)
	}
	if k, err = n.artifact(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if k.Features, k.Dim, err = matrix(f, "features"); err != nil {
		return k, err
	}
	cols := 0
	if f.Has("strangers") {
		if k.Strangers, cols, err = matrix(f, "strangers"); err == nil && cols != k.Dim {
			err = fmt.Errorf("%s: strangers have %d features, want %d", path, cols, k.Dim)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.Has("crossed_class") {
		if k.Crossed, err = crossed(f, len(k.Classes)); err != nil {
			return nil, err
		}
	}
	if !f.Has("logits") {
		return k, nil
	}
	if k.Logits, cols, err = matrix(f, "logits"); err != nil {
		return nil, err
	}
	var columns [3][]int
	for i, name := range []string{"domain", "split", "class"} {
		a, err := f.Array(name)
		if err == nil {
			columns[i], err = arrays.Ints(a)
		}
		if err != nil {
			return nil, err
		}
		most := []int{len(k.Domains), int(datasets.Val) + 1, len(k.Classes)}[i]
		for _, v := range columns[i] {
			if v < 0 || v >= most {
				return nil, a.Errorf("%d, want 0 to %d", v, most-1)
			}
		}
		if cols != len(k.Classes) || len(columns[i])*cols != len(k.Logits) || len(n.Measured) != len(columns[i]) {
			return nil, a.Errorf("%d rows for %d images and %d logits of %d classes", len(columns[i]), len(n.Measured), len(k.Logits), len(k.Classes))
		}
	}
	for i, d := range columns[0] {
		k.Measured = append(k.Measured, datasets.Example{ID: n.Measured[i], Domain: d, Split: datasets.Split(columns[1][i])})
	}
	k.Class = columns[2]
	return k, nil
}

// artifact returns the artifact described by the metadata.
func (n *names) artifact() (*Artifact, error) {
	if len(n.Seen) != 0 && len(n.Seen) != len(n.Domains) {
		return nil, fmt.Errorf("%s: counts of %d domains of %d", namesKey, len(n.Seen), len(n.Domains))
	}
	for _, row := range n.Seen {
		if len(row) != len(n.Classes) {
			return nil, fmt.Errorf("%s: counts of %d classes of %d", namesKey, len(row), len(n.Classes))
		}
	}
	for _, u := range n.Unsure {
		if u.Domain < 0 || u.Domain >= len(n.Domains) || u.Class < 0 || u.Class >= len(n.Classes) {
			return nil, fmt.Errorf("%s: %q is of domain %d and class %d", namesKey, u.ID, u.Domain, u.Class)
		}
	}
	for _, m := range n.Missed {
		if min(m.Class, m.Seen) < 0 || max(m.Class, m.Seen) >= len(n.Classes) {
			return nil, fmt.Errorf("%s: %q is of class %d and seen as %d", namesKey, m.ID, m.Class, m.Seen)
		}
	}
	return &Artifact{Domains: n.Domains, Classes: n.Classes, Seen: n.Seen, Unsure: n.Unsure, Estimate: n.Estimate, Missed: n.Missed, Novelty: n.Novelty}, nil
}

// CountPrediction records the logits of an unlabelled image.
func (k *Artifact) CountPrediction(e datasets.Example, logits []float32) {
	if k.Seen == nil {
		for range k.Domains {
			k.Seen = append(k.Seen, make([]int, len(k.Classes)))
		}
	}
	p := calibration.Softmax(logits, 1)
	u := Seen{ID: e.ID, Domain: e.Domain, Class: evaluate.ArgMax(p)}
	if v := p[u.Class]; v > 0 { // else they are not finite
		u.Probability = v
	}
	k.Seen[e.Domain][u.Class]++
	own, last := 0, -1 // of the domain, and the surest of them
	for i, o := range k.Unsure {
		if o.Domain == e.Domain {
			own, last = own+1, i
		}
	}
	switch {
	case own < least:
	case k.Unsure[last].Probability <= u.Probability:
		return
	default:
		k.Unsure = slices.Delete(k.Unsure, last, last+1)
	}
	at, _ := slices.BinarySearchFunc(k.Unsure, u, func(a, b Seen) int { return cmp.Compare(a.Probability, b.Probability) })
	k.Unsure = slices.Insert(k.Unsure, at, u)
}

// crossed reads the cross-validated logits.
func crossed(f *arrays.File, classes int) (*Crossed, error) {
	a, err := f.Array("crossed_class")
	if err != nil {
		return nil, err
	}
	x := new(Crossed)
	if x.Class, err = arrays.Ints(a); err != nil {
		return nil, err
	}
	for _, c := range x.Class {
		if c < 0 || c >= classes {
			return nil, a.Errorf("%d, want 0 to %d", c, classes-1)
		}
	}
	for name, to := range map[string]*[]float32{"crossed_folds": &x.Folds, "crossed_left_out": &x.LeftOut} {
		rows, cols, err := matrix(f, name)
		if err == nil && (cols != classes || len(rows) != len(x.Class)*classes) {
			err = fmt.Errorf("%s: %s has %d logits of %d classes, want %d images of %d", filepath.Base(f.Path()), name, len(rows), cols, len(x.Class), classes)
		}
		if err != nil {
			return nil, err
		}
		*to = rows
	}
	return x, nil
}

// matrix reads an array, and returns the number of its columns.
func matrix(f *arrays.File, name string) ([]float32, int, error) {
	a, err := f.Array(name)
	if err != nil {
		return nil, 0, err
	}
	_, cols, err := a.Matrix()
	if err != nil {
		return nil, 0, err
	}
	v, err := arrays.ReadAll[float32](context.Background(), a)
	return v, cols, err
}

// Dataset returns the stored part of the data set called name: its domains and classes, and the
// images of Measured without their pixels.
func (k *Artifact) Dataset(name string) (*datasets.Dataset, datasets.Truth) {
	return datasets.Recorded(name, k.Domains, k.Classes, k.Measured, k.Class)
}
