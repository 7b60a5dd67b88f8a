package detections

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// word is a string or a number of JSON, as a string; 1.0 is "1".
type word string

func (w *word) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*w = word(text)
		return nil
	}
	err := json.Unmarshal(data, (*json.Number)(w))
	if whole, zeros, found := strings.Cut(string(*w), "."); found && strings.Trim(zeros, "0") == "" {
		*w = word(whole)
	}
	return err
}

// megaCategories are MegaDetector's where the file names none.
var megaCategories = map[string]string{"1": "animal", "2": "person", "3": "vehicle"}

// entry is an image of MegaDetector (file) or SpeciesNet (filepath).
type entry struct {
	File       string      `json:"file"`
	Path       string      `json:"filepath"`
	Width      int         `json:"width"`
	Height     int         `json:"height"`
	Failure    string      `json:"failure"`
	Failures   []string    `json:"failures"`
	Detections []detection `json:"detections"`
	Prediction string      `json:"prediction"`
	Score      float64     `json:"prediction_score"`
	Model      string      `json:"model_version"`
}

// detection is a box of both, as fractions; classifications are pairs of a category and a score.
type detection struct {
	Category        word      `json:"category"`
	Conf            *float64  `json:"conf"`
	Bbox            []float64 `json:"bbox"`
	Classifications [][]word  `json:"classifications"`
}

// image reads an entry with the names of its categories and classes.
func (e *entry) image(categories, classes map[string]string) (m Image, err error) {
	m = Image{File: cmp.Or(e.File, e.Path), Width: e.Width, Height: e.Height, Failure: e.Failure, Said: Said{lastName(e.Prediction), e.Score}}
	if slices.Contains(e.Failures, "DETECTOR") {
		m.Failure = strings.Join(e.Failures, ", ")
	}
	if e.Detections == nil && m.Failure == "" { // not an empty list
		m.Failure = "there is no list of its detections"
	}
	for _, d := range e.Detections {
		if len(d.Bbox) != 4 {
			return m, fmt.Errorf("%s: a box of %d numbers, want x, y, width and height", m.File, len(d.Bbox))
		}
		b := Box{Box: boxOf(d.Bbox[0], d.Bbox[1], d.Bbox[2], d.Bbox[3]), Class: cmp.Or(categories[string(d.Category)], string(d.Category)), Score: 1}
		b.W, b.H = min(b.W, 1), min(b.H, 1)
		if d.Conf != nil {
			b.Score = *d.Conf
		}
		if len(d.Classifications) > 0 && len(d.Classifications[0]) == 2 { // the first is the best
			best := d.Classifications[0]
			b.Said.Class = cmp.Or(classes[string(best[0])], string(best[0]))
			if b.Said.Score, err = strconv.ParseFloat(string(best[1]), 64); err != nil {
				return m, fmt.Errorf("%s: a classification with the score %q", m.File, best[1])
			}
		}
		m.Boxes = append(m.Boxes, b)
	}
	return m, nil
}

func readMegaDetector(data []byte) (*List, error) {
	var v struct {
		Images     []entry           `json:"images"`
		Categories map[string]string `json:"detection_categories"`
		Classes    map[string]string `json:"classification_categories"`
		Info       struct {
			Detector string `json:"detector"`
		} `json:"info"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	if v.Categories == nil {
		v.Categories = megaCategories
	}
	return listOf(cmp.Or(v.Info.Detector, "MegaDetector"), v.Images, v.Categories, v.Classes)
}

func readSpeciesNet(data []byte) (*List, error) {
	var v struct {
		Predictions []entry `json:"predictions"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	return listOf("SpeciesNet", v.Predictions, megaCategories, nil)
}

func listOf(model string, entries []entry, categories, classes map[string]string) (*List, error) {
	list := &List{Model: model, Categories: slices.Collect(maps.Values(categories))}
	for _, e := range entries {
		m, err := e.image(categories, classes)
		if err != nil {
			return nil, err
		}
		list.Images = append(list.Images, m)
	}
	return list, nil
}

// lastName returns the most precise name of a class of SpeciesNet: id;class;order;family;genus;species;common.
func lastName(taxon string) string {
	names := slices.DeleteFunc(strings.Split(taxon, ";"), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

func readCOCO(data []byte) (*List, error) {
	var v struct {
		Images []struct {
			ID     word   `json:"id"`
			File   string `json:"file_name"`
			Width  int    `json:"width"`
			Height int    `json:"height"`
		} `json:"images"`
		Annotations []struct {
			Image    word      `json:"image_id"`
			Category word      `json:"category_id"`
			Bbox     []float64 `json:"bbox"`
			Score    *float64  `json:"score"`
		} `json:"annotations"`
		Categories []struct {
			ID   word   `json:"id"`
			Name string `json:"name"`
		} `json:"categories"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	list, at, names := new(List), make(map[word]int), make(map[word]string)
	for _, c := range v.Categories {
		names[c.ID] = c.Name
		list.Categories = append(list.Categories, c.Name)
	}
	for i, m := range v.Images {
		if k, twice := at[m.ID]; twice {
			return nil, fmt.Errorf("the images %s and %s have one id, %q", v.Images[k].File, m.File, m.ID)
		}
		at[m.ID] = i
		list.Images = append(list.Images, Image{File: m.File, Width: m.Width, Height: m.Height})
	}
	for _, a := range v.Annotations {
		i, ok := at[a.Image]
		switch {
		case !ok:
			return nil, fmt.Errorf("an annotation of the image %q, which is not among the images", a.Image)
		case len(a.Bbox) == 0: // of the whole image
			continue
		case len(a.Bbox) != 4:
			return nil, fmt.Errorf("a box of %d numbers in %s, want x, y, width and height", len(a.Bbox), list.Images[i].File)
		}
		name, known := names[a.Category]
		if !known {
			return nil, fmt.Errorf("a box in %s of the category %q, which is not among the categories", list.Images[i].File, a.Category)
		}
		b := Box{Box: boxOf(a.Bbox[0], a.Bbox[1], a.Bbox[2], a.Bbox[3]), Class: name, Score: 1}
		if a.Score != nil {
			b.Score = *a.Score
		}
		list.Images[i].Boxes = append(list.Images[i].Boxes, b)
	}
	return list, nil
}
