package learner

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Rates are the learning rates of one step.
type Rates struct {
	Backbone, ClassHead, DomainHead float64
}

// Batch is what one step trains on: n = K*B images of each pool, domain after
// domain. Views are uint8 [n, size, size, 3], flat. Slices that the options do
// not call for may be nil; the others are read during Step only.
type Batch struct {
	XWeak, XStrong []uint8 // labelled
	XLabel         []int32
	UWeak, UStrong []uint8 // unlabelled
	UDomain        []int32 // their source domains
	RStrong        []uint8 // reliable
	RLabel         []int32 // their pseudo-labels
	// LambdaIntra has a MixUp coefficient for each domain, LambdaInter one for
	// each pair of domains in the order (0,1), (0,2), (1,2).
	LambdaIntra, LambdaInter []float32
	// Partner is the row of the batch that each reliable image is mixed with
	// within its domain.
	Partner []int32
}

// Losses are the values of the loss terms of one step, named as in the paper.
type Losses struct {
	CE    float64 `json:"ce"`    // L_ce
	AC    float64 `json:"ac"`    // L_ac
	Intra float64 `json:"intra"` // MixUp within domains
	Inter float64 `json:"inter"` // MixUp across domains
	EG    float64 `json:"eg"`    // L_eg
	SS    float64 `json:"ss"`    // L_ss = L_ce + L_ac + delta*L_eg
	DD    float64 `json:"dd"`    // L_dd
}

// Add adds the terms of o.
func (l *Losses) Add(o Losses) {
	l.CE += o.CE
	l.AC += o.AC
	l.Intra += o.Intra
	l.Inter += o.Inter
	l.EG += o.EG
	l.SS += o.SS
	l.DD += o.DD
}

// Scaled returns the terms times f.
func (l Losses) Scaled(f float64) Losses {
	return Losses{l.CE * f, l.AC * f, l.Intra * f, l.Inter * f, l.EG * f, l.SS * f, l.DD * f}
}

// Outcome is what a step returns. Its values are fetched from the device when
// they are asked for.
type Outcome struct {
	values, label, mask *tensors.Tensor
}

// Losses fetches the loss values. It returns an error if one is not finite.
func (o Outcome) Losses() (Losses, error) {
	v, err := tensors.CopyFlatData[float32](o.values)
	if err != nil {
		return Losses{}, fmt.Errorf("reading losses: %w", err)
	}
	l := Losses{float64(v[0]), float64(v[1]), float64(v[2]), float64(v[3]), float64(v[4]), float64(v[5]), float64(v[6])}
	if !finite(l.SS) || !finite(l.DD) {
		return l, fmt.Errorf("training diverged: %+v (a lower learning rate may help)", l)
	}
	return l, nil
}

// PseudoLabels fetches the FixMatch pseudo-labels of the unlabelled images and
// whether each was sure enough to train on. Both are nil when the options leave
// L_ac out.
func (o Outcome) PseudoLabels() (label []int32, sure []bool, err error) {
	if o.label == nil {
		return nil, nil, nil
	}
	if label, err = tensors.CopyFlatData[int32](o.label); err != nil {
		return nil, nil, fmt.Errorf("reading pseudo-labels: %w", err)
	}
	mask, err := tensors.CopyFlatData[float32](o.mask)
	if err != nil {
		return nil, nil, fmt.Errorf("reading pseudo-labels: %w", err)
	}
	sure = make([]bool, len(mask))
	for i, m := range mask {
		sure[i] = m > 0
	}
	return label, sure, nil
}

// Inputs are a batch on the device, ready for a step.
type Inputs struct {
	tensors []*tensors.Tensor
	mixing  bool
}

// Free gives the device's memory back. The inputs cannot be used afterwards.
func (in *Inputs) Free() {
	for _, t := range in.tensors {
		t.MustFinalizeAll()
	}
	in.tensors = nil
}

// Upload copies what a step reads of a batch to the device. With mixing, L_eg will
// be part of the step's L_ss. Another goroutine may upload the next batch while a
// step is running.
func (l *Learner) Upload(b Batch, mixing bool) (*Inputs, error) {
	in := &Inputs{mixing: mixing && l.o.MixesUp()}
	for _, f := range l.step(in.mixing).fields() {
		t, err := l.upload(f.name, f.get(b), f.shape)
		if err != nil {
			in.Free()
			return nil, fmt.Errorf("training step: %w", err)
		}
		in.tensors = append(in.tensors, t)
	}
	return in, nil
}

// Step trains on one batch: one SGD step of backbone and class head on L_ss,
// and one of the domain head on L_dd. With mixing, L_eg is part of L_ss.
func (l *Learner) Step(b Batch, rates Rates, mixing bool) (Outcome, error) {
	in, err := l.Upload(b, mixing)
	if err != nil {
		return Outcome{}, err
	}
	defer in.Free()
	return l.StepOn(in, rates)
}

// StepOn is Step on a batch that is already on the device. The inputs stay as they
// are.
func (l *Learner) StepOn(in *Inputs, rates Rates) (Outcome, error) {
	var args []any
	for _, list := range [][]*tensors.Tensor{l.weights, l.velocity} {
		for _, t := range list {
			args = append(args, t)
		}
	}
	args = append(args, []float32{float32(rates.Backbone), float32(rates.ClassHead), float32(rates.DomainHead)})
	for _, t := range in.tensors {
		args = append(args, t)
	}
	out, err := l.step(in.mixing).exec.Call(args...)
	if err != nil {
		return Outcome{}, fmt.Errorf("training step: %w", err)
	}
	n, m := len(l.weights), len(l.velocity)
	for i := range n {
		replace(&l.weights[i], out[i])
	}
	for i := range m {
		replace(&l.velocity[i], out[n+i])
	}
	o := Outcome{values: out[n+m]}
	if l.o.Consistency != Nothing {
		o.label, o.mask = out[n+m+1], out[n+m+2]
	}
	return o, nil
}

// step returns the compiled step with or without MixUp.
func (l *Learner) step(mixing bool) *step {
	if mixing {
		return l.mixing
	}
	return l.plain
}

func replace(old **tensors.Tensor, t *tensors.Tensor) {
	(*old).MustFinalizeAll()
	*old = t
}

// step is a compiled training step.
type step struct {
	l      *Learner
	mixing bool
	exec   *graph.Exec
}

func (l *Learner) newStep(mixing bool) *step {
	s := &step{l: l, mixing: mixing}
	s.exec = graph.MustNewExec(l.backend.Compute, s.graph).WithName("step")
	return s
}

// field is one of a batch's tensors.
type field struct {
	name  string
	dtype dtypes.DType // uint8 for images
	shape []int
	get   func(Batch) any
	set   func(*inputs, *graph.Node)
}

// fields lists the tensors that a step reads.
func (s *step) fields() []field {
	o := s.l.o
	n := o.batch()
	images := func(name string, get func(Batch) []uint8, set func(*inputs, *graph.Node)) field {
		return field{name, dtypes.Uint8, []int{n, o.ImageSize, o.ImageSize, 3}, func(b Batch) any { return get(b) }, set}
	}
	list := []field{
		images("labelled weak views", func(b Batch) []uint8 { return b.XWeak }, func(in *inputs, v *graph.Node) { in.xWeak = v }),
		{"labels", dtypes.Int32, []int{n}, func(b Batch) any { return b.XLabel }, func(in *inputs, v *graph.Node) { in.xLabel = v }},
	}
	if o.Consistency == Both {
		list = append(list, images("labelled strong views", func(b Batch) []uint8 { return b.XStrong }, func(in *inputs, v *graph.Node) { in.xStrong = v }))
	}
	if o.NeedsUnlabelled() {
		list = append(list, images("unlabelled weak views", func(b Batch) []uint8 { return b.UWeak }, func(in *inputs, v *graph.Node) { in.uWeak = v }))
	}
	if o.DomainLoss {
		list = append(list, field{"domains", dtypes.Int32, []int{n}, func(b Batch) any { return b.UDomain }, func(in *inputs, v *graph.Node) { in.uDomain = v }})
	}
	if o.Consistency != Nothing {
		list = append(list, images("unlabelled strong views", func(b Batch) []uint8 { return b.UStrong }, func(in *inputs, v *graph.Node) { in.uStrong = v }))
	}
	if s.mixing && o.MixesUp() {
		list = append(list,
			images("reliable strong views", func(b Batch) []uint8 { return b.RStrong }, func(in *inputs, v *graph.Node) { in.rStrong = v }),
			field{"pseudo-labels", dtypes.Int32, []int{n}, func(b Batch) any { return b.RLabel }, func(in *inputs, v *graph.Node) { in.rLabel = v }})
		if o.IntraWeight > 0 {
			list = append(list,
				field{"intra-domain coefficients", dtypes.Float32, []int{o.Domains}, func(b Batch) any { return b.LambdaIntra }, func(in *inputs, v *graph.Node) { in.lambdaIntra = v }},
				field{"MixUp partners", dtypes.Int32, []int{n}, func(b Batch) any { return b.Partner }, func(in *inputs, v *graph.Node) { in.partner = v }})
		}
		if o.InterWeight > 0 && o.Domains > 1 {
			list = append(list, field{"inter-domain coefficients", dtypes.Float32, []int{len(o.pairs())}, func(b Batch) any { return b.LambdaInter }, func(in *inputs, v *graph.Node) { in.lambdaInter = v }})
		}
	}
	return list
}

// shapes lists the shapes of what the executable takes: weights, velocity, rates,
// fields.
func (s *step) shapes() []shapes.Shape {
	var list []shapes.Shape
	for _, t := range append(append([]*tensors.Tensor{}, s.l.weights...), s.l.velocity...) {
		list = append(list, t.Shape())
	}
	list = append(list, shapes.Make(dtypes.Float32, 3))
	for _, f := range s.fields() {
		list = append(list, shapes.Make(f.dtype, f.shape...))
	}
	return list
}

// upload copies a flat slice to the device, after checking its length.
func (l *Learner) upload(name string, flat any, shape []int) (*tensors.Tensor, error) {
	v := reflect.ValueOf(flat)
	s := shapes.Make(dtypes.FromGoType(v.Type().Elem()), shape...)
	if v.Len() != s.Size() {
		return nil, fmt.Errorf("%s have %d values, want %v", name, v.Len(), shape)
	}
	// Straight to the device: a tensor of its own would be one more copy.
	buffer, err := l.backend.Compute.BufferFromFlatData(0, flat, s)
	if err != nil {
		return nil, fmt.Errorf("%s to the device: %w", name, err)
	}
	return tensors.FromBuffer(buffer)
}

// graph builds the step: forward, losses, gradients and SGD.
func (s *step) graph(args []*graph.Node) []*graph.Node {
	l := s.l
	weights, args := args[:len(l.weights)], args[len(l.weights):]
	velocity, args := args[:len(l.velocity)], args[len(l.velocity):]
	rates, args := args[0], args[1:]
	var in inputs
	for i, f := range s.fields() {
		v := args[i]
		if f.dtype == dtypes.Uint8 {
			v = normalise(v)
		}
		f.set(&in, v)
	}

	weights, velocity, loss := l.update(weights, velocity, rates, in, s.mixing)
	out := append(append([]*graph.Node{}, weights...), velocity...)
	scalars := []*graph.Node{loss.ce, loss.ac, loss.intra, loss.inter, loss.eg, loss.ss, loss.dd}
	for i, v := range scalars {
		scalars[i] = graph.Reshape(v, 1)
	}
	out = append(out, graph.Concatenate(scalars, 0))
	if l.o.Consistency != Nothing {
		out = append(out, loss.pseudoLabel, loss.mask)
	}
	return out
}

// update is one training step on normalised images: the SGD step of backbone
// and class head on L_ss, then the one of the domain head on L_dd. It returns
// the new weights and velocity.
func (l *Learner) update(weights, velocity []*graph.Node, rates *graph.Node, in inputs, mixing bool) (newWeights, newVelocity []*graph.Node, loss losses) {
	params := named(l.params, weights)
	loss = l.losses(params, in, mixing, true)
	sgd := l.newSGD(velocity, rates)
	sgd.apply(params, loss.grads)
	maps.Copy(params, loss.running)
	if l.o.DomainLoss {
		features := loss.domainFeatures
		if l.o.DomainFeatures == PostUpdate {
			weak := view{in.uWeak, l.o.Domains, false, l.o.TargetPass == UpdateStats, "domain"}
			f, _, running := l.forward(params, []view{weak}, true)
			features = f[0]
			maps.Copy(params, running)
		}
		var grads map[string]*graph.Node
		loss.dd, grads = l.domainLoss(params, features, in.uDomain)
		sgd.apply(params, grads)
	}
	for _, p := range l.params {
		newWeights = append(newWeights, params[p.Name])
	}
	return newWeights, sgd.velocity, loss
}

// sgd is the optimizer while a graph is being built.
type sgd struct {
	l        *Learner
	rates    [3]*graph.Node // backbone, class head, domain head
	velocity []*graph.Node
}

func (l *Learner) newSGD(velocity []*graph.Node, rates *graph.Node) *sgd {
	s := &sgd{l: l, velocity: append([]*graph.Node{}, velocity...)}
	for i := range s.rates {
		s.rates[i] = graph.Reshape(graph.Slice(rates, graph.AxisElem(i)))
	}
	return s
}

// apply moves the parameters that have a gradient, in params and velocity.
func (s *sgd) apply(params, grads map[string]*graph.Node) {
	i := 0
	for _, p := range s.l.params {
		if !p.Kind.Trained() {
			continue
		}
		if g := grads[p.Name]; g != nil {
			rate := s.rates[0]
			if isDomain(p.Name) {
				rate = s.rates[2]
			} else if !isBackbone(p.Name) {
				rate = s.rates[1]
			}
			w := params[p.Name]
			g = graph.Add(g, graph.MulScalar(w, s.l.o.WeightDecay))
			s.velocity[i] = graph.Add(graph.MulScalar(s.velocity[i], s.l.o.Momentum), g)
			params[p.Name] = graph.Sub(w, graph.Mul(s.velocity[i], rate))
		}
		i++
	}
}
