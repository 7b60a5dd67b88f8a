package poolfile

import "github.com/ledg-go/ledg/datasets/arrays"

// Shape is the size of a pool; 0 for what the file lacks.
type Shape struct {
	Rows, Features, Classes int
	// HeldOut is the number of rows of other splits than train, which are not queried.
	HeldOut int
}

// ShapeOf reads the shape of the pool in a file, without its data.
func ShapeOf(path string) (Shape, error) {
	file, err := arrays.Open(path)
	if err != nil {
		return Shape{}, err
	}
	defer file.Close()
	var s Shape
	for _, x := range []struct {
		name string
		cols *int
	}{{features, &s.Features}, {classes + "_logits", &s.Classes}, {classes + "_probs", &s.Classes}} {
		if !file.Has(x.name) || *x.cols > 0 {
			continue
		}
		a, err := file.Array(x.name)
		if err != nil {
			return s, err
		}
		rows, cols, err := a.View(0).Matrix() // the clean one of several
		if err != nil {
			return s, err
		}
		s.Rows, *x.cols = rows, cols
	}
	rows, err := trained(file)
	if rows != nil {
		s.HeldOut = s.Rows - len(rows)
	}
	return s, err
}
