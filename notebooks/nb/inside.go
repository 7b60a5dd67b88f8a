package nb

import (
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Image is an image in RGB.
type Image = rgb.Image

// Weak returns a weakly augmented view of an image: flipped or not, and shifted.
func Weak(m *Image, r *rand.Rand) *Image { return augment.Weak(m, r) }

// Strong returns a strongly augmented view of an image: RandAugment and Cutout.
func Strong(m *Image, r *rand.Rand) *Image { return augment.Strong(m, r) }

// MixUp mixes two images of one size: a share lambda in [0, 1] of a, and the rest of b (Eq. 10 and 11 of
// Yuan et al. 2022).
func MixUp(a, b *Image, lambda float64) *Image { return augment.MixUp(a, b, lambda) }

// Choose returns the IDs of the n images that a query strategy would query next, with the final model
// of a run, its labels and its settings of exploration.
func Choose(dir, strategy string, n int) (ids []string) {
	e := Embed(dir)
	c := Must(study.Candidates(e, Queries(dir)))
	s := Must(active.ByName(strategy, Must(result.OpenRun(dir)).Config.Exploration.Options(0, len(e.ClassNames))))
	return active.IDs(Must(s.Query(c, n, rand.New(rand.NewPCG(1, 1)))))
}

// Reliable is an unlabelled image of CEG's reliable set, with its pseudo-label.
type Reliable struct {
	ID, Class string
	// Distance is the cosine distance, in [0, 2], to the nearest centroid, whose class is Class.
	Distance float64
}

// ReliableSet returns a share in [0, 1] of the unlabelled images: the nearest to the centroids of the labelled
// images by the final model of a run, nearest first (Eq. 7 and 8 of Yuan et al. 2022).
func ReliableSet(dir string, share float64) (list []Reliable) {
	e := Embed(dir)
	c := Must(study.Candidates(e, Queries(dir)))
	centroids := Must(cluster.Compute(c.LabelledFeatures, c.LabelledDomains, c.LabelledClasses,
		len(e.DomainNames), len(e.ClassNames), cluster.Augmented))
	set := Must(centroids.Closest(c.Features, nil, Must(cluster.Share(share, len(c.IDs), cluster.HalfEven))))
	for k, i := range set.Index {
		m := set.Match[k]
		list = append(list, Reliable{c.IDs[i], e.ClassNames[m.Class], m.Distance})
	}
	return list
}
