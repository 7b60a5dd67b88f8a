package observations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/ledg-go/ledg/datasets/detections"
	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/regular"
)

// maxFile is the largest file of boxes, in bytes.
const maxFile = 4 << 30

// writeMegaDetector writes MegaDetector's results of the boxes' file with the classes that were predicted,
// as classifications of its detections. Everything else stays as it is in the file; another format is
// converted.
func writeMegaDetector(out string, images []*Unit, o Options) error {
	if o.Boxes == nil {
		return errors.New("MegaDetector's format is of boxes: predict with --boxes")
	}
	list, err := detections.Read(o.Boxes.File)
	if err != nil {
		return err
	}
	doc := make(map[string]any)
	if list.Format == foreign.MegaDetector {
		data, err := regular.Read(o.Boxes.File, maxFile)
		if err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber() // numbers stay as they are
		if err := d.Decode(&doc); err != nil {
			return fmt.Errorf("%s: %w", o.Boxes.File, err)
		}
	} else if doc, err = converted(list); err != nil {
		return fmt.Errorf("%s: %w", o.Boxes.File, err)
	}
	predicted := make(map[string]map[string]Item) // by file and box
	for _, m := range images {
		if m.Detected == nil {
			continue
		}
		of := make(map[string]Item)
		for _, v := range m.Items {
			of[v.Box.String()] = v
		}
		predicted[m.Detected.File] = of
	}
	classes, number := categories(doc, images)
	doc["classification_categories"] = classes
	info, _ := doc["info"].(map[string]any)
	if info == nil {
		info = map[string]any{"format_version": "1.3"}
	}
	info["classifier"] = o.By
	doc["info"] = info
	entries, _ := doc["images"].([]any)
	for i, entry := range entries {
		m, _ := entry.(map[string]any)
		boxes, _ := m["detections"].([]any)
		for k, box := range boxes {
			if i >= len(list.Images) || k >= len(list.Images[i].Boxes) {
				continue
			}
			read := list.Images[i].Boxes[k]
			v, ok := predicted[list.Images[i].File][read.Box.String()]
			if b, is := box.(map[string]any); is && ok && read.Score >= o.Boxes.Score {
				delete(b, "classifications")
				if !v.Abstained {
					b["classifications"] = []any{[]any{number[v.Class], math.Round(v.Probability*1e4) / 1e4}}
				}
			}
		}
	}
	return regular.WriteFile(out, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(doc)
	})
}

// categories adds the predicted classes to those of a file, with the next free numbers.
func categories(doc map[string]any, images []*Unit) (classes map[string]any, number map[string]string) {
	if classes, _ = doc["classification_categories"].(map[string]any); classes == nil {
		classes = make(map[string]any)
	}
	number = make(map[string]string)
	for id, name := range classes {
		if text, ok := name.(string); ok {
			number[text] = id
		}
	}
	var names []string
	for _, m := range images {
		for _, v := range m.Items {
			names = append(names, v.Class)
		}
	}
	slices.Sort(names)
	next := 1
	for _, name := range slices.Compact(names) {
		if number[name] != "" {
			continue
		}
		for classes[strconv.Itoa(next)] != nil {
			next++
		}
		number[name] = strconv.Itoa(next)
		classes[number[name]] = name
	}
	return classes, number
}

// converted makes MegaDetector's format of other boxes.
func converted(list *detections.List) (map[string]any, error) {
	names, categories := list.Classes(), make(map[string]any)
	for i, name := range names {
		categories[strconv.Itoa(i+1)] = name
	}
	var entries []any
	for _, m := range list.Images {
		entry := map[string]any{"file": m.File}
		if m.Failure != "" {
			entry["failure"], entry["detections"] = m.Failure, nil
			entries = append(entries, entry)
			continue
		}
		boxes := []any{}
		for _, b := range m.Boxes {
			at := b.Box
			if max(at.X, at.Y, at.W, at.H) > 1 {
				if m.Width == 0 || m.Height == 0 {
					return nil, fmt.Errorf("%s has boxes in pixels and no width and height, which MegaDetector's format needs", m.File)
				}
				at = at.Fractions(m.Width, m.Height)
			}
			bbox := []any{}
			for _, v := range []float64{at.X, at.Y, at.W, at.H} {
				bbox = append(bbox, math.Round(v*1e4)/1e4)
			}
			boxes = append(boxes, map[string]any{"category": strconv.Itoa(slices.Index(names, b.Class) + 1), "conf": b.Score, "bbox": bbox})
		}
		entry["detections"] = boxes
		entries = append(entries, entry)
	}
	return map[string]any{"images": entries, "detection_categories": categories, "info": map[string]any{"format_version": "1.3", "detector": list.Model}}, nil
}
