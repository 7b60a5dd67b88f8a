package objective

import (
	"fmt"
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Objective is a training method: the inputs of a step, its networks and its losses.
type Objective struct {
	// Name is the method's name, in lower case.
	Name string
	// Inputs are the images, labels and domains that a step reads from the subsets.
	Inputs []Input
	// Draws are the step's random numbers.
	Draws []Draw
	// Nets lists networks in addition to Backbone, ClassHead and DomainHead, which every method
	// has. nil means none.
	Nets func(d Dims) []Net
	// Phase maps an epoch, from 0, to the number of a training phase. Steps of different phases
	// may build different graphs, and each is compiled once. nil means one phase.
	Phase func(epoch int) int
	// Step builds one training step.
	Step func(s Step)
	// Test computes class logits from the backbone's features of test images; their softmax are
	// the predicted probabilities. nil means the class head.
	Test Classifier
	// Predicts names a network that predicts in place of the backbone, with the class head
	// NAME.fc, as made by [Teacher]. Empty means the backbone.
	Predicts string
	// UnitPixels scales pixels to [0, 1] in training and tests. Otherwise they are normalised by
	// ImageNet's mean and standard deviation.
	UnitPixels bool
	// Images marks a step that works on pixels, so that it cannot train on feature vectors.
	Images bool
	// Fit replaces Step: it computes the class head from all labelled examples after every
	// query. It is for feature vectors with the identity backbone.
	Fit func(s Samples) (Fitted, error)
	// Pool passes the unlabelled examples of the pool to Fit, too, and Names embeddings of class
	// names.
	Pool, Names bool
}

// Subset names a subset of the training images.
type Subset string

const (
	// Labelled are the labelled images.
	Labelled Subset = "labelled"
	// Unlabelled are the images without a label.
	Unlabelled Subset = "unlabelled"
	// Reliable is the reliable set: unlabelled images with pseudo-labels from the nearest
	// centroids. It is empty before the end of the first epoch; see Step.Has.
	Reliable Subset = "reliable"
)

// Content is the kind of data that an input holds for every image.
type Content string

const (
	// Pixels are an augmented view, float32 [n, size, size, 3].
	Pixels Content = "pixels"
	// Label is the class or pseudo-label, int32 [n].
	Label Content = "label"
	// Domain is the true source domain, int32 [n].
	Domain Content = "domain"
	// Prior is [LogShares] of all of the labelled subset, float32 [classes].
	Prior Content = "prior"
)

// Input is one tensor that a step reads from a subset, with n = Domains*PerDomain images a
// batch, ordered by domain. All inputs of a subset in a batch refer to the same images.
type Input struct {
	Name    string
	Subset  Subset
	Content Content
	// View computes the pixels.
	View augment.View
}

// Images is an input of augmented views of a subset's images. Views of different names are drawn
// independently.
func Images(name string, s Subset, v augment.View) Input { return Input{name, s, Pixels, v} }

// Labels is an input of a subset's labels. The unlabelled subset has none.
func Labels(name string, p Subset) Input { return Input{Name: name, Subset: p, Content: Label} }

// Domains is an input of a subset's source domains.
func Domains(name string, p Subset) Input { return Input{Name: name, Subset: p, Content: Domain} }

// Draw is one or several arrays of random numbers that a step reads, from one random stream.
type Draw struct {
	// Stream names the random stream, which is seeded anew in every step.
	Stream string
	// With names a subset; nothing is drawn while it is empty. An empty With always draws.
	With Subset
	// Arrays are the drawn arrays.
	Arrays []Array
	// Fill draws the values: values holds one []float32 or []int32 of the right length for each
	// array, in order.
	Fill func(r *rand.Rand, d Dims, values []any)
}

// Array describes an array of random numbers. Shape may be constant, such as [1]; an empty shape
// is a scalar.
type Array struct {
	Name  string
	Int   bool // int32 instead of float32
	Shape func(d Dims) []int
}

// Floats is a draw of one float32 array, filled by fill. The stream has the array's name.
func Floats(name string, shape func(d Dims) []int, fill func(r *rand.Rand, d Dims, v []float32)) Draw {
	return Draw{Stream: name, Arrays: []Array{{Name: name, Shape: shape}},
		Fill: func(r *rand.Rand, d Dims, values []any) { fill(r, d, values[0].([]float32)) }}
}

// Ints is a draw of one int32 array, filled by fill. The stream has the array's name.
func Ints(name string, shape func(d Dims) []int, fill func(r *rand.Rand, d Dims, v []int32)) Draw {
	return Draw{Stream: name, Arrays: []Array{{Name: name, Int: true, Shape: shape}},
		Fill: func(r *rand.Rand, d Dims, values []any) { fill(r, d, values[0].([]int32)) }}
}

// PerImage is the shape [n] of a draw with one number for each image of a batch.
func PerImage(d Dims) []int { return []int{d.Batch()} }

// Values allocates and draws the arrays, by name.
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

// Dims are the sizes of a run.
type Dims struct {
	// Classes, Domains (source domains, K) and PerDomain (images of a domain in a batch, B) are
	// counts; ImageSize is a side in pixels.
	Classes, Domains, PerDomain, ImageSize int
	// Backbone is the run's network and Features the length of its feature vectors.
	Backbone nets.Backbone
	Features int
}

// Batch returns the number of images of one subset in a batch, K*B.
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

// The networks that every method has. Query strategies that need domain probabilities use the
// domain head.
const (
	Backbone   = ""
	ClassHead  = nets.ClassHead
	DomainHead = "domain"
)

// Rate selects a network's learning rate.
type Rate int

const (
	BackboneRate Rate = iota
	ClassHeadRate
	DomainHeadRate
)

// Net is a network: a backbone or a head.
type Net struct {
	// Name identifies the network in steps. Its parameters' names are prefixed with it and a
	// dot.
	Name string
	// Backbone is set for networks on images.
	Backbone nets.Backbone
	// Params are a head's parameters, by full name.
	Params []nets.Param
	// Rate is the learning rate.
	Rate Rate
	// Copy initialises the network as a copy of the net Of.
	Copy bool
	Of   string
	// SD, if not 0, initialises weights from N(0, SD^2) and biases with 0.
	SD float64
	// FromFile marks networks whose weights are read from a file, such as [AdaIN]'s.
	FromFile bool
	// Fixed excludes the network from Minimise; Set may still change it.
	Fixed bool
}

// Linear is a linear head with the learning rate of class heads.
func Linear(name string, in, out int) Net {
	return Net{Name: name, Params: nets.LinearParams(name, in, out), Rate: ClassHeadRate}
}

// Teacher returns copies of the backbone and the class head, called name and name.fc, that only
// Set changes.
func Teacher(name string, d Dims) []Net {
	head := Linear(name+"."+ClassHead, d.Features, d.Classes)
	head.Copy, head.Of, head.Fixed = true, ClassHead, true
	return []Net{{Name: name, Backbone: d.Backbone, Copy: true, Of: Backbone, Fixed: true}, head}
}

// View is a batch of images to pass through a network. A view without images is skipped, and its
// output is nil.
type View struct {
	// Name identifies the view's features in tests.
	Name string
	// Images is [n, size, size, 3], or the network's input shape.
	Images *Node
	// NoGrad stops the gradient: the view computes targets.
	NoGrad bool
	// Frozen excludes the view from BatchNorm's running statistics.
	Frozen bool
	// Parts is the number of equal parts of the batch with separate batch statistics, such as
	// one for each domain in many published codes; 0 means 1. They update the running statistics
	// in order.
	Parts int
	// Group names views that share batch statistics, part by part. They must agree on NoGrad and
	// Frozen. Empty shares nothing.
	Group string
	// ImageGrad lets gradients flow into the images: to a network that generated them, or for
	// Step.Gradient.
	ImageGrad bool
	// Maps returns the network's last feature maps [n, h, w, channels] instead of features;
	// Step.Pool pools them.
	Maps bool
}

// Of returns the view with other images.
func (v View) Of(images *Node) View {
	v.Images = images
	return v
}

// Heads gives access to the networks on top of features.
type Heads interface {
	// Dims returns the sizes of the run.
	Dims() Dims
	// Param returns the current value of a parameter by its full name.
	Param(name string) *Node
	// Head applies a head to features [n, dim] and returns logits [n, out]. The domain head
	// includes its hidden layers.
	Head(name string, features *Node) *Node
}

// Classifier computes class logits [n, classes] from features [n, dim]. Experts and Cosine can
// be exported; any other function is a ClassifierFunc.
type Classifier interface {
	Logits(h Heads, features *Node) *Node
}

// ClassifierFunc adapts a function to Classifier.
type ClassifierFunc func(h Heads, features *Node) *Node

// Logits calls f.
func (f ClassifierFunc) Logits(h Heads, features *Node) *Node { return f(h, features) }

// Experts averages the probabilities of several linear heads and returns the logarithm. It lists
// the heads' names.
type Experts func(d Dims) []string

func (e Experts) Logits(h Heads, features *Node) *Node {
	var sum *Node
	names := e(h.Dims())
	for _, name := range names {
		sum = plus(sum, Softmax(h.Head(name, features), -1))
	}
	return Log(DivScalar(sum, float64(len(names))))
}

// Cosine is the cosine similarity of features and each row of a parameter [classes, dim],
// divided by a temperature.
type Cosine struct {
	Param       string
	Temperature float64
}

func (c Cosine) Logits(h Heads, features *Node) *Node {
	return c.of(features, h.Param(c.Param))
}

// of is Logits with another value of the parameter.
func (c Cosine) of(features, w *Node) *Node {
	return DivScalar(DotGeneral(UnitRows(features), []int{1}, nil, UnitRows(w), []int{1}, nil), c.Temperature)
}

// UnitRows divides the rows of v [n, dim] by their Euclidean lengths, or by 1e-12 where they are
// shorter.
func UnitRows(v *Node) *Node {
	return Div(v, Sqrt(MaxScalar(ReduceAndKeep(Square(v), ReduceSum, -1), 1e-24)))
}

// The scalars that a step can read by Step.Scalar.
const (
	// Epoch counts from 0.
	Epoch = "epoch"
	// Steps is the number of training steps before this one.
	Steps = "steps"
	// Progress is the finished fraction of training, in [0, 1).
	Progress = "progress"
)

// Step builds the graph of one training step. Its methods take effect in call order, like the
// lines of a training loop: a Forward after a Minimise uses the updated weights, and every
// Forward updates running statistics. Methods panic on invalid arguments, as GoMLX's functions
// do.
type Step interface {
	Heads
	// Has reports whether the subset is not empty in this epoch.
	Has(p Subset) bool
	// Phase returns the value of Objective.Phase for this epoch.
	Phase() int
	// In returns an input or a draw by name; images are normalised for the networks.
	In(name string) *Node
	// Bytes returns an input of images, unnormalised: float32 in 0..255.
	Bytes(name string) *Node
	// Normalise converts pixels in 0..255 to the networks' input range.
	Normalise(bytes *Node) *Node
	// Scalar returns Epoch, Steps or Progress as a float32 scalar. Its changes do not recompile
	// the step.
	Scalar(name string) *Node

	// Forward passes views through a network in train mode and returns the features [n, dim] of
	// each. One call with several views is faster than several calls.
	Forward(net string, views ...View) []*Node
	// Pool pools a network's last feature maps to features [n, dim].
	Pool(net string, maps *Node) *Node

	// Term records the value of a loss term, a scalar, under a name.
	Term(name string, loss *Node)
	// Minimise takes one SGD step on the loss: it updates the parameters of nets only, and
	// records the loss as a term. The first minimised loss of a step is shown as progress.
	Minimise(name string, loss *Node, nets ...string)
	// Gradient returns the gradients of a scalar with respect to nodes, which are outputs of
	// Forward or images passed to it with ImageGrad. The gradients are constants.
	Gradient(loss *Node, of ...*Node) []*Node
	// Set assigns a value to a parameter.
	Set(param string, v *Node)
	// Trained lists the parameters of a net, without the net's name and without running
	// statistics.
	Trained(net string) []string

	// PseudoLabels records the pseudo-labels of the unlabelled images, int32 [n], with a mask of
	// those used, float32 [n] of 0 and 1. Records hold their accuracy.
	PseudoLabels(label, used *Node)
	// Note exposes a value to tests.
	Note(name string, v *Node)
}

// Uses reports whether a step reads any input of a subset.
func (o Objective) Uses(p Subset) bool {
	return slices.ContainsFunc(o.Inputs, func(in Input) bool { return in.Subset == p })
}

// Views lists the views that a step reads from a subset.
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

// Validate returns an error for the first invalid field of o.
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
		case (in.Content == Label || in.Content == Prior) && in.Subset == Unlabelled:
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
