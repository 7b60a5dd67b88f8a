package audit

import (
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// FalseAlarms is the share of new images of the same domains and classes that [Novelty] flags. In
// simulations it was 4 to 8% (TestStrangers and TestStrangerScores of package site).
const FalseAlarms = 0.05

// Novelty is a threshold of the cosine distance to the nearest known image. Images beyond it
// look like nothing known. It is a quantile of the distances of all images, labelled or not, by
// [DistancesApart]: unlabelled images alone are too near, as labels were selected to cover them, and
// labelled images alone too far.
type Novelty struct {
	// Threshold is the (1 - [FalseAlarms]) quantile over Images images.
	Threshold float64 `json:"threshold"`
	Images    int     `json:"images"`
}

// FewestForNovelty is the number of images from which on there is a threshold.
const FewestForNovelty = 20

// NewNovelty returns the threshold from the distances of images; nil with fewer than
// [FewestForNovelty].
func NewNovelty(distances []float64) *Novelty {
	n := len(distances)
	if n < FewestForNovelty {
		return nil
	}
	sorted := slices.Sorted(slices.Values(distances))
	at := int(math.Ceil((1-FalseAlarms)*float64(n+1))) - 1 // as a conformal quantile
	return &Novelty{sorted[min(at, n-1)], n}
}

// Flags reports whether an image at a distance looks like nothing known.
func (n *Novelty) Flags(distance float64) bool { return n != nil && distance > n.Threshold }

// Strangeness returns the distance by which an image is flagged, where some images are known to
// show nothing labelled: its distance to the nearest known image, times the ratio of the two
// distances if the nearest stranger is closer.
func Strangeness(known, stranger float64) float64 {
	const rounding = 1e-6 // of equal directions
	if stranger >= known {
		return known
	}
	return known * known / max(stranger, rounding)
}

// NewNoveltyBeside is NewNovelty where some images are known to show nothing labelled: from the
// distances of images to the nearest known image and to the nearest stranger, by
// [Strangeness]. Images nearer to a stranger are left out as probable strangers.
func NewNoveltyBeside(known, strangers []float64) *Novelty {
	var list []float64
	for i, d := range known {
		if strangers[i] >= d {
			list = append(list, d)
		}
	}
	return NewNovelty(list)
}

// Distances returns the cosine distance, 0 to 2, of each of rows [n, D] to the nearest of known [m, D].
// Rows of zeros are at distance 1.
func Distances(rows, known cluster.Matrix) []float64 {
	return DistancesApart(rows, known, make([]int, rows.Rows), slices.Repeat([]int{1}, known.Rows))
}

// DistancesApart is Distances to the nearest known row of another group; 2 if there is none. groups [n]
// and knownGroups [m] are the rows' groups. Where known images are among the rows, give each image its own group, so
// that it is not compared with itself.
func DistancesApart(rows, known cluster.Matrix, groups, knownGroups []int) []float64 {
	distances, _ := NewNeighbours(known, knownGroups).Nearest(rows, groups)
	return distances
}

// Neighbours are known rows with their groups, to which others are compared.
type Neighbours struct {
	packed *dot.Packed
	groups []int
}

// NewNeighbours takes known rows [m, D] and their groups [m].
func NewNeighbours(known cluster.Matrix, groups []int) *Neighbours {
	return &Neighbours{dot.Pack(unit(known), known.Cols), groups}
}

// Nearest returns, for each of rows [n, D] with groups [n], the distance of [DistancesApart] and
// the known row that is nearest, the first of equals.
func (k *Neighbours) Nearest(rows cluster.Matrix, groups []int) (distances []float64, at []int) {
	a, m := unit(rows), len(k.groups)
	distances, at = make([]float64, rows.Rows), make([]int, rows.Rows)
	_ = dot.Each(rows.Rows, 64, func(first, last int) error {
		products := make([]float64, (last-first)*m)
		dot.Products(products, dot.Pack(a[first*rows.Cols:last*rows.Cols], rows.Cols), k.packed)
		for i := first; i < last; i++ {
			cosine := -1.
			for j, v := range products[(i-first)*m : (i-first+1)*m] {
				if groups[i] != k.groups[j] && v > cosine {
					cosine, at[i] = v, j
				}
			}
			distances[i] = 1 - cosine
		}
		return nil
	})
	return distances, at
}

// unit returns the rows at length 1, without gaps; rows of zeros stay.
func unit(m cluster.Matrix) []float32 {
	out := make([]float32, 0, m.Rows*m.Cols)
	for i := range m.Rows {
		row := m.Data[i*m.Stride:][:m.Cols]
		length := math.Sqrt(dot.Square(row))
		for _, v := range row {
			if length > 0 {
				v = float32(float64(v) / length)
			}
			out = append(out, v)
		}
	}
	return out
}
