// Package detections reads the boxes that detectors and people have drawn in images: results of
// MegaDetector (JSON 1.x), predictions of SpeciesNet, COCO, CVAT for images 1.1, and tables.
//
// Sources: github.com/agentmorris/MegaDetector (batch processing output format),
// github.com/google/cameratrapai, cocodataset.org, docs.cvat.ai.
package detections

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// List is the content of a file. Format is empty for a table, and Model names the detector. Categories are
// the classes that the file declares, which need not have boxes.
type List struct {
	Format     foreign.Format
	Model      string
	Images     []Image
	Categories []string
}

// Image is what a file says of an image.
type Image struct {
	// File is its path as the file has it. Width and Height are in pixels, 0 if not said.
	File          string
	Width, Height int
	// Failure says why the detector failed; empty if it did not.
	Failure string
	Boxes   []Box
	// Said is what the tool says of the whole image, such as SpeciesNet's species or blank.
	Said Said
}

// Box is a box with its class, such as animal, its score from 0 to 1, and what a classifier says of it.
type Box struct {
	rgb.Box
	Class string
	Score float64
	Said  Said
}

// Said is a class that a tool suggests, with its score; empty for none.
type Said struct {
	Class string
	Score float64
}

// Limits of files, in bytes; the second is of a line of a table.
const maxFile, maxLine = 4 << 30, 1 << 20

// readers read the formats that are no tables.
var readers = map[foreign.Format]func(data []byte) (*List, error){
	foreign.MegaDetector: readMegaDetector, foreign.SpeciesNet: readSpeciesNet, foreign.COCO: readCOCO, foreign.CVAT: readCVAT,
}

// Read reads a file. An error names it.
func Read(path string) (*List, error) {
	if low := strings.ToLower(path); strings.HasSuffix(low, ".csv") || strings.HasSuffix(low, ".tsv") {
		list, err := readTable(path)
		if err != nil {
			return nil, err
		}
		if err := list.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return list, nil
	}
	data, err := regular.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	format := foreign.Of(path)
	read := readers[format]
	if read == nil {
		if err := foreign.Check(path); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: it has no boxes: want MegaDetector's or SpeciesNet's JSON, COCO, CVAT's XML, or a .csv with the columns path, x, y, w, h, score", path)
	}
	list, err := read(data)
	if err == nil {
		err = list.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: it is %s: %w", path, format, err)
	}
	list.Format = format
	return list, nil
}

// check returns an error for an image without a name, and for boxes that no detector draws.
func (l *List) check() error {
	for _, m := range l.Images {
		if m.File == "" {
			return errors.New("an image without a file name")
		}
		for _, b := range m.Boxes {
			if sum := b.X + b.Y + b.W + b.H; math.IsNaN(sum) || math.IsInf(sum, 0) {
				return fmt.Errorf("%s: a box of %v, %v, %v and %v, want numbers", m.File, b.X, b.Y, b.W, b.H)
			}
			if !(b.Score >= 0 && b.Score < 1.01) {
				return fmt.Errorf("%s: a box with the score %v, want 0 to 1", m.File, b.Score)
			}
		}
	}
	return nil
}

// Classes returns the classes that are declared and those of all boxes, in byte order.
func (l *List) Classes() []string {
	there := make(map[string]bool)
	for _, name := range l.Categories {
		there[name] = true
	}
	for _, m := range l.Images {
		for _, b := range m.Boxes {
			there[b.Class] = true
		}
	}
	return slices.Sorted(maps.Keys(there))
}

// boxOf cuts a box off at the left and upper edge, which it can cross by rounding; so does the length of a box of
// fractions the 1.
func boxOf(x, y, w, h float64) rgb.Box {
	if max(x, y, w, h) < 1.01 {
		w, h = min(w, 1), min(h, 1)
	}
	return rgb.Box{X: max(x, 0), Y: max(y, 0), W: w + min(x, 0), H: h + min(y, 0)}
}
