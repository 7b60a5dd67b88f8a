package direct

import (
	"github.com/ledg-go/ledg/ceg/nets"
)

// Pass is one batch of images, like nets.Pass.
type Pass struct {
	// Images are normalised, [n, size, size, 3], or for the back of a network maps [n, size,
	// size, channels].
	Images []float32
	// Group, NoGrad and UpdateStats have the meaning of nets.Pass.
	Group               int
	NoGrad, UpdateStats bool
}

// Trainer trains a network on the CPU without a graph. It reuses its buffers and computes one
// step at a time.
type Trainer struct {
	size, channels, features int
	norm                     nets.Norm
	layout
	// first is the first stage, of the stem, the blocks and the head, that has anything
	// to learn.
	first   int
	scratch []*scratch
	pool    pool
}

// NewTrainer returns a trainer of backbone b on square images of side size, or of a back
// (Channels is not 0) on maps of that side. The error is [ErrTraining] for unsupported layers,
// and [ErrVectors] if vector instructions are missing.
func NewTrainer(b nets.Backbone, size int) (*Trainer, error) {
	if !trains {
		return nil, ErrVectors
	}
	params, features, err := nets.Params(b, size)
	if err != nil {
		return nil, err
	}
	l, err := layoutOf(b, size)
	if err != nil {
		return nil, err
	}
	t := &Trainer{size: size, channels: b.In(), features: features, norm: b.Norm.OrDefault(), layout: l, pool: pool{free: map[int][][]float32{}}}
	t.first = t.stages()
	for _, p := range params {
		if p.Trained() {
			t.first = min(t.first, t.stageOf[p.Name])
		}
	}
	return t, nil
}

// Stored returns the number of values that the forward pass stores for the backward pass, per
// image with gradients.
func (t *Trainer) Stored() int {
	n := padded(t.head.out) * t.head.pixels
	if t.stem != nil {
		n += padded(t.stem.out) * t.stem.h * t.stem.w
	} else {
		n += padded(t.channels) * t.size * t.size
	}
	for _, b := range t.blocks {
		n += b.outPixels * (padded(b.mid) + 2*padded(b.out))
	}
	return n
}

// chunk is a number of images of one group that a goroutine takes at a time.
type chunk struct {
	group  int
	grad   bool
	images []image
}

// image is an image of a pass.
type image struct{ pass, at int }

// chunkImages is the largest number of images of a chunk. It does not depend on the number
// of processors, so that sums are added up in the same order on any number.
const chunkImages = 8

// group is a number of passes that share the statistics of BatchNorm.
type group struct {
	chunks       []int
	grad, update bool
}

// maps are maps of every chunk, [images*h*w, channels], with channels padded with zeros to a
// multiple of 16; nil if not stored.
type maps [][]float32

// Run is a forward pass, ready for Backward.
type Run struct {
	// Features are the features of every pass, [n, dim].
	Features [][]float32
	// Running are the updated running statistics by name, in training.
	Running map[string][]float32

	t      *Trainer
	values map[string][]float32
	passes []Pass
	train  bool
	groups []group
	chunks []chunk
	input  maps // of a back
	stem   stemRun
	blocks []blockRun
	head   headRun
}

// Forward passes images through the network, normalised by batch statistics of their groups if
// train, else by running statistics. The values of parameters, by name, and the images must not
// change until Free.
func (t *Trainer) Forward(values map[string][]float32, passes []Pass, train bool) *Run {
	r := &Run{t: t, values: values, passes: passes, train: train, Running: map[string][]float32{}, blocks: make([]blockRun, len(t.blocks))}
	r.divide()
	var x maps
	var mean [][]float64
	if t.stem != nil {
		t.stem.forward(r)
	} else {
		x, mean = r.read()
	}
	for i, b := range t.blocks {
		x, mean = b.forward(r, &r.blocks[i], x, mean)
	}
	t.head.forward(r, x)
	return r
}

// divide cuts the passes into chunks.
func (r *Run) divide() {
	at := map[int]int{}
	one := r.t.size * r.t.size * r.t.channels
	var images [][]image
	for i, p := range r.passes {
		g, ok := at[p.Group]
		if !ok {
			g = len(r.groups)
			at[p.Group] = g
			r.groups = append(r.groups, group{grad: !p.NoGrad, update: p.UpdateStats})
			images = append(images, nil)
		}
		for j := range len(p.Images) / one {
			images[g] = append(images[g], image{i, j})
		}
		r.Features = append(r.Features, make([]float32, len(p.Images)/one*r.t.features))
	}
	for g, list := range images {
		for from := 0; from < len(list); from += chunkImages {
			r.groups[g].chunks = append(r.groups[g].chunks, len(r.chunks))
			r.chunks = append(r.chunks, chunk{g, r.groups[g].grad, list[from:min(from+chunkImages, len(list))]})
		}
	}
}

// read copies the maps that a back reads, and returns their means by group.
func (r *Run) read() (x maps, mean [][]float64) {
	r.input = r.maps()
	c, pixels := r.t.channels, r.t.size*r.t.size
	wide := padded(c)
	of := make([]*moments, len(r.chunks))
	r.each(false, func(s *scratch, i int, ch *chunk) {
		n := len(ch.images) * pixels
		r.input[i], of[i] = r.t.pool.zeros(n*wide), newMoments(wide)
		of[i].n = float64(n)
		for j, img := range ch.images {
			from := r.passes[img.pass].Images[img.at*pixels*c:][:pixels*c]
			for p := range pixels {
				copy(r.input[i][(j*pixels+p)*wide:], from[p*c:(p+1)*c])
			}
		}
		if r.train {
			s.addTo(of[i], 0, 0, wide, view{r.input[i], wide}, n)
		}
	})
	if r.train {
		for g := range r.groups {
			mean = append(mean, r.merged(g, of, wide).mean)
		}
	}
	return r.input, mean
}

// each calls do for every chunk, or every one with gradients, in parallel.
func (r *Run) each(grad bool, do func(s *scratch, i int, c *chunk)) {
	r.t.parallel(len(r.chunks), func(s *scratch, i int) {
		if c := &r.chunks[i]; c.grad || !grad {
			do(s, i, c)
		}
	})
}

// maps returns room for maps of chunks.
func (r *Run) maps() maps { return make(maps, len(r.chunks)) }

// drop frees what chunks without gradients do not need any more.
func (r *Run) drop(m maps) {
	for i, c := range r.chunks {
		if !c.grad && m != nil {
			r.t.pool.put(m[i])
			m[i] = nil
		}
	}
}

// Free returns the buffers. The run must not be used afterwards.
func (r *Run) Free() {
	for _, m := range []maps{r.input, r.stem.c, r.head.c} {
		r.t.pool.put(m...)
	}
	for _, b := range r.blocks {
		for _, m := range []maps{b.d, b.p, b.y} {
			r.t.pool.put(m...)
		}
	}
	*r = Run{}
}

// back is a way back through a run.
type back struct {
	*Run
	grads map[string][]float32
	// stemSlopes are the slopes of the stem's BatchNorm by group.
	stemSlopes []*slope
}

// Backward returns the gradients of a loss with respect to the trained parameters, by name.
// adjoints are the gradients with respect to Features, nil for zeros. It may be called
// repeatedly.
func (r *Run) Backward(adjoints [][]float32) map[string][]float32 {
	b := &back{Run: r, grads: map[string][]float32{}}
	n := r.t.stages()
	if r.t.first < n {
		dy := r.t.head.backward(b, adjoints)
		for i := len(r.blocks) - 1; i >= 0 && i+1 >= r.t.first; i-- {
			dy = r.t.blocks[i].backward(b, i, dy)
		}
		if r.t.first == 0 {
			r.t.stem.backward(b, dy)
		}
		r.t.pool.put(dy...)
	}
	return b.grads
}
