package detections

import (
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/datasets/sheet"
)

func readCVAT(data []byte) (*List, error) {
	var v struct {
		Images []struct {
			Name   string `xml:"name,attr"`
			Width  int    `xml:"width,attr"`
			Height int    `xml:"height,attr"`
			Boxes  []struct {
				Label string  `xml:"label,attr"`
				X1    float64 `xml:"xtl,attr"`
				Y1    float64 `xml:"ytl,attr"`
				X2    float64 `xml:"xbr,attr"`
				Y2    float64 `xml:"ybr,attr"`
			} `xml:"box"`
		} `xml:"image"`
	}
	if err := xml.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	list := new(List)
	for _, m := range v.Images {
		image := Image{File: m.Name, Width: m.Width, Height: m.Height}
		for _, b := range m.Boxes {
			image.Boxes = append(image.Boxes, Box{Box: boxOf(b.X1, b.Y1, b.X2-b.X1, b.Y2-b.Y1), Class: b.Label, Score: 1})
		}
		list.Images = append(list.Images, image)
	}
	return list, nil
}

// columns are the names of a table's columns: those of the path, the box, the score and the class. In place of w and h
// there may be the right and lower edge, ends; w and h are the image's then.
var columns = [][]string{{"path", "file", "file_name", "filename", "filepath", "image_path", "image"}, {"x", "xmin", "x_min", "left", "bbox_x"}, {"y", "ymin", "y_min", "top", "bbox_y"},
	{"w", "width", "bbox_w", "bbox_width"}, {"h", "height", "bbox_h", "bbox_height"}, {"score", "conf", "confidence"}, {"class", "label", "category"}}

var ends = [][]string{{"xmax", "x_max", "right"}, {"ymax", "y_max", "bottom"}}

// readTable reads a row a box, in fractions of the image or in pixels; a row without numbers is of an
// image without a box.
func readTable(file string) (*List, error) {
	list, at, columns := new(List), make(map[string]int), slices.Clone(columns)
	byEnds := false
	err := sheet.Read(file, maxFile, maxLine, func(head []string) error {
		if byEnds = sheet.Column(head, ends[0]...) >= 0 && sheet.Column(head, ends[1]...) >= 0; byEnds {
			columns[3], columns[4] = ends[0], ends[1]
		}
		for _, names := range columns[:5] {
			if sheet.Column(head, names...) < 0 {
				return fmt.Errorf("%s: there is no column %s: want path, x, y, w, h and score, a row a box", file, strings.Join(names, " or "))
			}
		}
		return nil
	}, func(r sheet.Row) error {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Where, r.Err)
		}
		name := r.Raw(columns[0]...)
		key := path.Clean(strings.ReplaceAll(name, `\`, "/"))
		i, ok := at[key]
		if !ok {
			i = len(list.Images)
			at[key], list.Images = i, append(list.Images, Image{File: name})
		}
		v, empty := [5]float64{4: 1}, 0 // the last is the score
		for k := range v {
			cell := r.Cell(columns[k+1]...)
			if cell == "" {
				empty++
				continue
			}
			var err error
			if v[k], err = strconv.ParseFloat(cell, 64); err != nil {
				return fmt.Errorf("%s: %s is %q, want a number", r.Where, columns[k+1][0], cell)
			}
		}
		if byEnds {
			v[2], v[3] = v[2]-v[0], v[3]-v[1]
		}
		if empty < 4 {
			list.Images[i].Boxes = append(list.Images[i].Boxes, Box{Box: boxOf(v[0], v[1], v[2], v[3]), Score: v[4], Class: r.Cell(columns[6]...)})
		}
		return nil
	})
	return list, err
}
