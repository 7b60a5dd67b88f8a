package augment

import (
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Op is one operation of a RandAugment policy with the range of its magnitude.
type Op struct {
	// Name is FixMatch's name of the operation.
	Name string
	// Min and Max bound the uniformly drawn magnitude. Both are 0 for an operation without one.
	Min, Max float64

	run func(dst, src *rgb.Image, v float64)
}

// Apply returns src transformed with magnitude v, which may lie outside [Min, Max] where the
// operation permits it. Posterize keeps int(v) bits. Operations without a magnitude ignore v.
func (o Op) Apply(src *rgb.Image, v float64) *rgb.Image {
	dst := rgb.New(src.Width, src.Height)
	o.run(dst, src, v)
	return dst
}

var policy = []Op{
	{Name: "AutoContrast", run: autoContrast},
	{Name: "Brightness", Min: 0.05, Max: 0.95, run: brightness},
	{Name: "Color", Min: 0.05, Max: 0.95, run: colour},
	{Name: "Contrast", Min: 0.05, Max: 0.95, run: contrast},
	{Name: "Equalize", run: equalize},
	{Name: "Identity", run: identity},
	{Name: "Posterize", Min: 4, Max: 8, run: posterize},
	{Name: "Rotate", Min: -30, Max: 30, run: rotate},
	{Name: "Sharpness", Min: 0.05, Max: 0.95, run: sharpness},
	{Name: "ShearX", Min: -0.3, Max: 0.3, run: shearX},
	{Name: "ShearY", Min: -0.3, Max: 0.3, run: shearY},
	{Name: "Solarize", Min: 0, Max: 256, run: solarize},
	{Name: "TranslateX", Min: -0.3, Max: 0.3, run: translateX},
	{Name: "TranslateY", Min: -0.3, Max: 0.3, run: translateY},
}

// Policy returns the operations of FixMatch's RandAugment with their ranges, in alphabetical
// order, as used by Strong (Dassl's data/transforms/randaugment.py:fixmatch_list).
func Policy() []Op { return slices.Clone(policy) }

// randAugment writes src after n operations of Policy, one after the other, into dst,
// going back and forth between the scratch images until the last. Each is drawn
// uniformly with replacement, always applied, and has its own uniform magnitude; two
// numbers are drawn from r per operation. (The published code flips the sign of the
// geometric magnitudes once more, which leaves their symmetric distribution as it is,
// and is left out here.)
func (m *Maker) randAugment(dst, src *rgb.Image, n int, r *rand.Rand) {
	if n == 0 {
		copy(dst.Pix, src.Pix)
		return
	}
	for i := range n {
		op := policy[r.IntN(len(policy))]
		v := op.Min + float64((op.Max-op.Min)*r.Float64())
		out := dst
		if i < n-1 {
			out = m.steps[i%2].Reset(src.Width, src.Height)
		}
		op.run(out, src, v)
		src = out
	}
}
