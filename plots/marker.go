package plots

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// shape is the outline of a marker.
type shape uint8

const (
	circle shape = iota
	square
	triangle
	diamond
	wedge // a triangle on its tip
	shapes
)

var shapeNames = [shapes]string{"circle", "square", "triangle", "diamond", "wedge"}

// path returns the closed outline around a centre, all shapes of about the
// same area as a circle of the given radius. Circles are polygons: the PDF
// canvas cannot fill a path with more than one arc.
func (s shape) path(at vg.Point, radius vg.Length) vg.Path {
	r := float64(radius)
	switch s {
	case circle:
		return polygon(at, max(8, int(8*math.Sqrt(r))), r*1.02, 0)
	case square:
		return polygon(at, 4, r*1.25, math.Pi/4)
	case triangle:
		return polygon(at, 3, r*1.5, math.Pi/2)
	case diamond:
		return polygon(at, 4, r*1.3, 0)
	default:
		return polygon(at, 3, r*1.5, -math.Pi/2)
	}
}

// polygon returns a regular polygon whose first corner lies at the given angle.
func polygon(at vg.Point, corners int, radius, angle float64) vg.Path {
	var p vg.Path
	for i := range corners {
		sin, cos := math.Sincos(angle + 2*math.Pi*float64(i)/float64(corners))
		corner := at.Add(vg.Point{X: vg.Length(radius * cos), Y: vg.Length(radius * sin)})
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}
