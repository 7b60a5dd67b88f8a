package detections

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/datasets/sheet"
)

// shape is a box, ellipse, mask, polygon or other shape of CVAT, with the attributes of its kind. Rotation is in
// degrees, clockwise around the shape's centre.
type shape struct {
	XMLName  xml.Name
	Label    string  `xml:"label,attr"`
	X1       float64 `xml:"xtl,attr"`
	Y1       float64 `xml:"ytl,attr"`
	X2       float64 `xml:"xbr,attr"`
	Y2       float64 `xml:"ybr,attr"`
	CX       float64 `xml:"cx,attr"`
	CY       float64 `xml:"cy,attr"`
	RX       float64 `xml:"rx,attr"`
	RY       float64 `xml:"ry,attr"`
	Left     float64 `xml:"left,attr"`
	Top      float64 `xml:"top,attr"`
	Width    float64 `xml:"width,attr"`
	Height   float64 `xml:"height,attr"`
	Rotation float64 `xml:"rotation,attr"`
	Points   string  `xml:"points,attr"`
}

// ends returns the edges of the upright box around a shape; ok is false for a shape without an extent.
func (s *shape) ends() (x1, y1, x2, y2 float64, ok bool) {
	switch s.XMLName.Local {
	case "box":
		x1, y1, x2, y2 = s.X1, s.Y1, s.X2, s.Y2
	case "ellipse":
		x1, y1, x2, y2 = s.CX-s.RX, s.CY-s.RY, s.CX+s.RX, s.CY+s.RY
	case "mask":
		x1, y1, x2, y2 = s.Left, s.Top, s.Left+s.Width, s.Top+s.Height
	case "polygon", "polyline":
		x1, y1, x2, y2 = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		for _, p := range strings.Split(s.Points, ";") {
			var x, y float64
			if n, _ := fmt.Sscanf(p, "%g,%g", &x, &y); n < 2 {
				return 0, 0, 0, 0, false
			}
			x1, y1, x2, y2 = min(x1, x), min(y1, y), max(x2, x), max(y2, y)
		}
	default:
		return 0, 0, 0, 0, false
	}
	sin, cos := math.Sincos(s.Rotation * math.Pi / 180)
	sin, cos = math.Abs(sin), math.Abs(cos)
	x, y, w, h := (x1+x2)/2, (y1+y2)/2, (x2-x1)/2, (y2-y1)/2
	w, h = w*cos+h*sin, w*sin+h*cos
	return x - w, y - h, x + w, y + h, true
}

func readCVAT(data []byte) (*List, error) {
	var v struct {
		Images []struct {
			Name   string  `xml:"name,attr"`
			Width  int     `xml:"width,attr"`
			Height int     `xml:"height,attr"`
			Shapes []shape `xml:",any"`
		} `xml:"image"`
		Tracks []struct{} `xml:"track"`
	}
	if err := xml.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	if len(v.Images) == 0 && len(v.Tracks) > 0 {
		return nil, errors.New("it has the tracks of a video and no images: export CVAT for images 1.1")
	}
	list := new(List)
	for _, m := range v.Images {
		image := Image{File: m.Name, Width: m.Width, Height: m.Height}
		for _, s := range m.Shapes {
			if x1, y1, x2, y2, ok := s.ends(); ok {
				image.Boxes = append(image.Boxes, Box{Box: boxOf(x1, y1, x2-x1, y2-y1), Class: s.Label, Score: 1})
			}
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
				if k < 4 {
					empty++
				}
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
		if empty > 0 && empty < 4 {
			return fmt.Errorf("%s: %d of the 4 numbers of its box are empty: want all, or none for an image without a box", r.Where, empty)
		}
		if empty == 0 {
			list.Images[i].Boxes = append(list.Images[i].Boxes, Box{Box: boxOf(v[0], v[1], v[2], v[3]), Score: v[4], Class: r.Cell(columns[6]...)})
		}
		return nil
	})
	return list, err
}
