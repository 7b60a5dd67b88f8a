package objective

import (
	"fmt"
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Objective is a training method: what a step reads, which networks it has, and
// what they are trained for.
type Objective struct {
	// Name is the method's, in lower case.
	Name string
	// Inputs are the images, labels and domains that a step reads from the subsets.
	Inputs []Input
	// Draws are its random numbers.
	Draws []Draw
	// Nets lists the networks besides those that every method has: Backbone,
	// ClassHead and DomainHead. nil means none.
	Nets func(d Dims) []Net
	// Phase numbers the parts of training that take different passes: a step is
	// compiled once for each. It gets the epoch, from 0. nil means one phase.
	Phase func(epoch int) int
	// Step builds one training step.
	Step func(s Step)
	// Test makes class logits of the backbone's features of test images, whose softmax
	// are the method's probabilities. nil means the class head.
	Test Classifier
	// Predicts names a net that predicts in the place of the backbone, with the class
	// head NAME.fc, as [Teacher] makes them. Empty for the backbone itself.
	Predicts string
	// UnitPixels gives the networks pixels in [0, 1], in training and in tests.
	// Without it they are normalised by ImageNet's mean and standard deviation.
	UnitPixels bool
	// Images says that the step works on pixels by themselves, so that it is not for
	// feature vectors.
	Images bool
	// Fit, in the place of Step, computes the class head from all labelled examples at
	// once, whenever labels have come. It is for feature vectors and the network that
	// leaves them as they are.
	Fit func(s Samples) (Fitted, error)
	// Pool says that Fit takes the unlabelled examples of the pool, too.
	Pool bool
}

// Subset names some of the images.
type Subset string

const (
	// Labelled are the images with labels.
	Labelled Subset = "labelled"
	// Unlabelled are the others.
	Unlabelled Subset = "unlabelled"
	// Reliable is a part of the unlabelled ones, with pseudo-labels from the nearest
	// centroids. There is none before the end of the first epoch; see Step.Has.
	Reliable Subset = "reliable"
)

// Content says what an input holds of every image.
type Content string

const (
	// Pixels are a view of it, float32 [n, size, size, 3].
	Pixels Content = "pixels"
	// Label is its class, or pseudo-label, int32 [n].
	Label Content = "label"
	// Domain is its source domain, int32 [n]. It is true, also of unlabelled images.
	Domain Content = "domain"
)

// Input is one tensor that a step reads of a subset: of each of its n =
// Domains*PerDomain images in a batch, domain after domain. All inputs of a subset
// are of the same images.
type Input struct {
	Name    string
	Subset  Subset
	Content Content
	// View makes the pixels.
	View augment.View
}

// Images is an input of views of a subset's images. Views of different names are
// drawn independently.
func Images(name string, s Subset, v augment.View) Input { return Input{name, s, Pixels, v} }

// Labels is an input of a subset's labels; the unlabelled subset has none.
func Labels(name string, p Subset) Input { return Input{Name: name, Subset: p, Content: Label} }

// Domains is an input of the source domains of a subset's images.
func Domains(name string, p Subset) Input { return Input{Name: name, Subset: p, Content: Domain} }

// Draw is random numbers of a step, one array or several that come from one
// stream.
type Draw struct {
	// Stream names the stream of random numbers, which begins anew with every step.
	Stream string
	// With is the subset without which nothing is drawn; empty for always.
	With Subset
	// Arrays are what is drawn.
	Arrays []Array
	// Fill draws: values has a []float32 or []int32 of the right length for every
	// array, in order.
	Fill func(r *rand.Rand, d Dims, values []any)
}

// Array describes an array of random numbers. Shape may be the same for all runs,
// such as [1] for a number of a step; no axes make a scalar.
type Array struct {
	Name  string
	Int   bool // int32 instead of float32
	Shape func(d Dims) []int
}

// Floats is a draw of one float32 array by a function of its values. The array
// names the stream.
func Floats(name string, shape func(d Dims) []int, fill func(r *rand.Rand, d Dims, v []float32)) Draw {
	return Draw{Stream: name, Arrays: []Array{{Name: name, Shape: shape}},
		Fill: func(r *rand.Rand, d Dims, values []any) { fill(r, d, values[0].([]float32)) }}
}

// Ints is a draw of one int32 array.
func Ints(name string, shape func(d Dims) []int, fill func(r *rand.Rand, d Dims, v []int32)) Draw {
	return Draw{Stream: name, Arrays: []Array{{Name: name, Int: true, Shape: shape}},
		Fill: func(r *rand.Rand, d Dims, values []any) { fill(r, d, values[0].([]int32)) }}
}

// PerImage is the shape of a draw with a number for every image of a subset's batch.
func PerImage(d Dims) []int { return []int{d.Batch()} }

// Values makes the draw's arrays and fills them, by name.
func (w Draw) Values(r *rand.Rand, d Dims) map[string]any {
	byName := map[string]any{}
	var list []any
	for _, a := range w.Arrays {
		n := 1
		for _, s := range a.Shape(d) {
			n *= s
		}
		var v any = make([]float32, n)
		if a.Int {
			v = make([]int32, n)
		}
		list = append(list, v)
		byName[a.Name] = v
	}
	w.Fill(r, d, list)
	return byName
}

// Dims are the sizes that a run has.
type Dims struct {
	// Classes, Domains (source domains, K) and PerDomain (images of a domain in a
	// subset's batch, B) are counts; ImageSize is a side in pixels.
	Classes, Domains, PerDomain, ImageSize int
	// Backbone is the run's network and Features the length of its feature vectors.
	Backbone nets.Backbone
	Features int
}

// Batch returns the images of one subset in a batch, K*B.
func (d Dims) Batch() int { return d.Domains * d.PerDomain }

// Pairs lists the unordered pairs of domains in the order (0,1), (0,2), (1,2).
func (d Dims) Pairs() [][2]int {
	var p [][2]int
	for i := range d.Domains {
		for j := i + 1; j < d.Domains; j++ {
			p = append(p, [2]int{i, j})
		}
	}
	return p
}

// The networks that every method has. The domain head is there for query
// strategies that look at domains.
const (
	Backbone   = ""
	ClassHead  = nets.ClassHead
	DomainHead = "domain"
)

// Rate says which learning rate a network has.
type Rate int

const (
	BackboneRate Rate = iota
	ClassHeadRate
	DomainHeadRate
)

// Net is a network: a backbone, or a head.
type Net struct {
	// Name is what steps call it. Its parameters' names begin with it and a dot.
	Name string
	// Backbone makes it a network of images.
	Backbone nets.Backbone
	// Params are a head's parameters, by their full names.
	Params []nets.Param
	// Rate is its learning rate.
	Rate Rate
	// Copy makes it begin as a copy of the net Of.
	Copy bool
	Of   string
	// SD, if it is not 0, makes the weights begin from N(0, SD^2) and biases from 0.
	SD float64
	// Given says that the weights come from a file, [AdaIN]'s.
	Given bool
	// Fixed keeps Minimise from moving it; Set may.
	Fixed bool
}

// Linear is a linear head with the class heads' learning rate.
func Linear(name string, in, out int) Net {
	return Net{Name: name, Params: nets.LinearParams(name, in, out), Rate: ClassHeadRate}
}

// Teacher returns a copy of the backbone and the class head, called name and
// name.fc, that only Set moves.
func Teacher(name string, d Dims) []Net {
	head := Linear(name+"."+ClassHead, d.Features, d.Classes)
	head.Copy, head.Of, head.Fixed = true, ClassHead, true
	return []Net{{Name: name, Backbone: d.Backbone, Copy: true, Of: Backbone, Fixed: true}, head}
}

// View is a batch of images on its way through a network. One without images is
// left out, and its output is nil.
type View struct {
	// Name is for tests, which find the view's features by it.
	Name string
	// Images is [n, size, size, 3], or what the network takes.
	Images *Node
	// NoGrad says that no gradient flows back: the view serves to make targets.
	NoGrad bool
	// Frozen keeps the view out of BatchNorm's running statistics.
	Frozen bool
	// Parts is the number of equal parts that have batch statistics of their own, as
	// the domains do in many published codes; 0 is 1. They enter the running
	// statistics one after the other.
	Parts int
	// Group makes views with the same one share batch statistics, part by part.
	// They must agree on NoGrad and Frozen. A view without one shares nothing.
	Group string
	// ImageGrad lets gradients flow back into the images: to a network that made
	// them, or for Step.Gradient.
	ImageGrad bool
	// Maps returns the network's last maps [n, h, w, channels] instead of features;
	// Step.Pool makes features of them.
	Maps bool
}

// Of is the view with other images.
func (v View) Of(images *Node) View {
	v.Images = images
	return v
}

// Heads are the networks that come after features.
type Heads interface {
	// Dims returns the sizes of the run.
	Dims() Dims
	// Param returns a parameter by its full name, as it is now.
	Param(name string) *Node
	// Head applies a linear head to features [n, dim], and the domain head with its
	// hidden layers: [n, out].
	Head(name string, features *Node) *Node
}

// Classifier makes class logits [n, classes] of features [n, dim]. Those that are
// Experts or Cosine can be exported; any other function is a ClassifierFunc.
type Classifier interface {
	Logits(h Heads, features *Node) *Node
}

// ClassifierFunc is a function as a Classifier.
type ClassifierFunc func(h Heads, features *Node) *Node

// Logits calls f.
func (f ClassifierFunc) Logits(h Heads, features *Node) *Node { return f(h, features) }

// Experts is the mean of the probabilities of linear heads, as its logarithm. It lists
// the heads' names.
type Experts func(d Dims) []string

// Logits implements Classifier.
func (e Experts) Logits(h Heads, features *Node) *Node {
	var sum *Node
	names := e(h.Dims())
	for _, name := range names {
		sum = plus(sum, Softmax(h.Head(name, features), -1))
	}
	return Log(DivScalar(sum, float64(len(names))))
}

// Cosine is the cosine of the angle between the features and each row of a parameter
// [classes, dim], divided by a temperature.
type Cosine struct {
	Param       string
	Temperature float64
}

// Logits implements Classifier.
func (c Cosine) Logits(h Heads, features *Node) *Node {
	return c.of(features, h.Param(c.Param))
}

// of is Logits with another value of the parameter.
func (c Cosine) of(features, w *Node) *Node {
	return DivScalar(DotGeneral(unit(features), []int{1}, nil, unit(w), []int{1}, nil), c.Temperature)
}

// unit divides rows by their length, or by 1e-12.
func unit(v *Node) *Node {
	return Div(v, Sqrt(MaxScalar(ReduceAndKeep(Square(v), ReduceSum, -1), 1e-24)))
}

// The scalars that a step may ask for.
const (
	// Epoch counts from 0.
	Epoch = "epoch"
	// Steps is the number of steps made before this one since training began.
	Steps = "steps"
	// Progress is the part of training that is over, in [0, 1).
	Progress = "progress"
)

// Step is one training step while it is being built. Its methods take effect in
// the order of the calls, as the lines of a training loop do: a Forward after a
// Minimise is by the new weights, and every Forward moves the running statistics.
// They panic on what cannot be, as GoMLX's functions do.
type Step interface {
	Heads
	// Has reports whether the subset has images in this epoch.
	Has(p Subset) bool
	// Phase returns what Objective.Phase says of this epoch.
	Phase() int
	// In returns an input or a draw by name, images as the networks see them.
	In(name string) *Node
	// Bytes returns an input of images as they are, float32 in 0..255.
	Bytes(name string) *Node
	// Normalise turns pixels in 0..255 into what the networks see.
	Normalise(bytes *Node) *Node
	// Scalar returns Epoch, Steps or Progress, a float32 scalar. Nothing is compiled
	// again when it changes.
	Scalar(name string) *Node

	// Forward sends views through a network in train mode and returns the features
	// [n, dim] of each. The fewer calls the faster.
	Forward(net string, views ...View) []*Node
	// Pool makes features of a network's last maps.
	Pool(net string, maps *Node) *Node

	// Term records the value of a loss term, a scalar, under a name.
	Term(name string, loss *Node)
	// Minimise takes one step of SGD: it moves the parameters of the nets, and of no
	// others, against the gradient of the loss, which it records as a term. The first
	// loss that a step minimises is the one that progress shows.
	Minimise(name string, loss *Node, nets ...string)
	// Gradient returns the gradients of a scalar with respect to nodes: what Forward
	// returned, or images that were given to it with ImageGrad. They are constants.
	Gradient(loss *Node, of ...*Node) []*Node
	// Set gives a parameter a value.
	Set(param string, v *Node)
	// Trained lists the parameters of a net without its name and without running
	// statistics.
	Trained(net string) []string

	// PseudoLabels reports the pseudo-labels of the unlabelled images, int32 [n], and
	// whether each was used, float32 [n] of 0 and 1; records tell how many were right.
	PseudoLabels(label, used *Node)
	// Note keeps a value for tests.
	Note(name string, v *Node)
}

// Uses reports whether a step reads anything of a subset.
func (o Objective) Uses(p Subset) bool {
	return slices.ContainsFunc(o.Inputs, func(in Input) bool { return in.Subset == p })
}

// Views lists the kinds of views that a step reads of a subset.
func (o Objective) Views(p Subset) []augment.View {
	var list []augment.View
	for _, in := range o.Inputs {
		known := slices.ContainsFunc(list, func(v augment.View) bool { return v.Name == in.View.Name })
		if in.Subset == p && in.Content == Pixels && !known {
			list = append(list, in.View)
		}
	}
	return list
}

// Validate reports the first thing in o that cannot be.
func (o Objective) Validate() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("objective %s: %w", o.Name, fmt.Errorf(format, args...))
	}
	if o.Name == "" {
		return fmt.Errorf("an objective has no name")
	}
	if o.Fit != nil {
		if err := o.checkFit(); err != nil {
			return fail("%w", err)
		}
		return nil
	}
	if o.Step == nil {
		return fail("it has no step")
	}
	names := map[string]bool{}
	add := func(name string) error {
		if name == "" || names[name] {
			return fail("an input or a draw is called %q, as another one is, or nothing", name)
		}
		names[name] = true
		return nil
	}
	for _, in := range o.Inputs {
		if err := add(in.Name); err != nil {
			return err
		}
		switch {
		case in.Subset != Labelled && in.Subset != Unlabelled && in.Subset != Reliable:
			return fail("input %s is of subset %q", in.Name, in.Subset)
		case in.Content == Pixels && in.View.Make == nil:
			return fail("input %s has no view", in.Name)
		case in.Content == Label && in.Subset == Unlabelled:
			return fail("input %s is the labels of unlabelled images", in.Name)
		}
	}
	for _, w := range o.Draws {
		if w.Stream == "" || w.Fill == nil {
			return fail("a draw has no stream or no function")
		}
		for _, a := range w.Arrays {
			if err := add(a.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
