package learner

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// inputs are one step's images and labels as graph nodes. Images are float32
// [images, size, size, 3], normalised; n = K*B images per pool, domain after
// domain. Nodes that the options do not call for are nil.
type inputs struct {
	xWeak, xStrong *Node // labelled
	xLabel         *Node // int32 [n]
	uWeak, uStrong *Node // unlabelled
	uDomain        *Node // int32 [n], their domains
	rStrong        *Node // reliable
	rLabel         *Node // int32 [n], pseudo-labels
	lambdaIntra    *Node // [K]
	partner        *Node // int32 [n], intra-domain MixUp partners as rows of the batch
	lambdaInter    *Node // [pairs]
}

// losses are the values of the loss terms, and what they imply for the weights.
type losses struct {
	ce, ac, intra, inter, eg, ss, dd *Node // scalars
	// pseudoLabel (int32) and mask (float32, 0 or 1) are of the unlabelled
	// images, [n].
	pseudoLabel, mask *Node
	// grads are the gradients of L_ss, and of L_dd for the domain head's
	// parameters, by name.
	grads map[string]*Node
	// running are the updated running statistics by name.
	running map[string]*Node
	// domainFeatures are the features that the domain head is trained on when
	// they are reused, [n, features].
	domainFeatures *Node
}

// view is a batch of images on its way through the backbone.
type view struct {
	images *Node
	parts  int  // parts that PerDomain batch statistics split it into
	grad   bool // gradients flow back
	update bool // batch statistics enter the running ones
	group  string
}

// forward sends views through the backbone. It returns their features, the way
// back from the features' gradients (nil for views without one), and the
// updated running statistics. Views of one group share batch statistics, part by
// part.
//
// A network without BatchNorm treats every image by itself, so that all views
// with and all without gradients travel as one batch each: the same result from
// fewer, larger matrix products.
func (l *Learner) forward(params map[string]*Node, views []view, train bool) (features []*Node, pull func([]*Node) map[string]*Node, running map[string]*Node) {
	// pieces[v] lists the passes that view v consists of, as rows of a pass.
	type piece struct{ pass, from, to int }
	pieces := make([][]piece, len(views))
	var passes []nets.Pass
	if !l.batchNorm {
		for _, grad := range []bool{true, false} {
			var images []*Node
			rows := 0
			for v, w := range views {
				if w.grad == grad {
					images = append(images, w.images)
					n := w.images.Shape().Dimensions[0]
					pieces[v] = []piece{{len(passes), rows, rows + n}}
					rows += n
				}
			}
			if rows > 0 {
				passes = append(passes, nets.Pass{Images: Concatenate(images, 0), NoGrad: !grad, Group: len(passes)})
			}
		}
	} else {
		groups := map[string]int{}
		for v, w := range views {
			parts, n := 1, w.images.Shape().Dimensions[0]
			if l.o.BatchNorm == PerDomain {
				parts = w.parts
			}
			for k := range parts {
				key := fmt.Sprint(w.group, k)
				if _, ok := groups[key]; !ok {
					groups[key] = len(groups)
				}
				images := w.images
				if parts > 1 {
					images = l.images(images, k*n/parts, (k+1)*n/parts)
				}
				pieces[v] = append(pieces[v], piece{len(passes), 0, n / parts})
				passes = append(passes, nets.Pass{Images: images, NoGrad: !w.grad, Group: groups[key], UpdateStats: w.update})
			}
		}
	}
	f := l.build(l.o.Backbone, params, passes, train)
	for v := range views {
		var rows []*Node
		for _, p := range pieces[v] {
			rows = append(rows, SliceAxis(f.Passes[p.pass], 0, AxisRange(p.from, p.to)))
		}
		features = append(features, Concatenate(rows, 0))
	}
	pull = func(adjoints []*Node) map[string]*Node {
		byPass := make([][]*Node, len(passes))
		for v, d := range adjoints {
			from := 0
			for _, p := range pieces[v] {
				if d != nil {
					byPass[p.pass] = append(byPass[p.pass], SliceAxis(d, 0, AxisRange(from, from+p.to-p.from)))
				}
				from += p.to - p.from
			}
		}
		passAdjoints := make([]*Node, len(passes))
		for i, rows := range byPass {
			if len(rows) > 0 {
				passAdjoints[i] = Concatenate(rows, 0)
			}
		}
		grads, _ := f.Pull(passAdjoints)
		return grads
	}
	return features, pull, f.Running
}

// images copies some of the images, on the Go backend by its Gather, which copies
// runs where Slice visits element by element.
func (l *Learner) images(all *Node, from, to int) *Node {
	if l.backend.FastConv {
		return GatherSlices(all, []int{0}, Const(all.Graph(), []int32{int32(from)}), []int{to - from}, true)
	}
	return SliceAxis(all, 0, AxisRange(from, to))
}

// losses builds the loss terms and their gradients (L_ss and L_dd of Yuan et al. 2022;
// the published code's trainers/adg.py). Mixing says whether there is a reliable
// set yet.
func (l *Learner) losses(params map[string]*Node, in inputs, mixing, train bool) losses {
	o := l.o
	mixing = mixing && o.MixesUp()
	k := o.Domains

	// The views in the order in which their statistics enter the running ones:
	// pseudo-labels, labelled, strong, mixed within and across domains.
	var views []view
	add := func(images *Node, parts int, grad bool, group string) int {
		update := grad || o.TargetPass == UpdateStats
		views = append(views, view{images, parts, grad, update, group})
		return len(views) - 1
	}
	iTargetX, iTargetU, iX, iStrongX, iStrongU, iIntra, iInter := -1, -1, -1, -1, -1, -1, -1
	if o.Consistency == Both && l.batchNorm {
		iTargetX = add(in.xWeak, k, false, "target")
	}
	if o.Consistency != Nothing || (o.DomainLoss && o.DomainFeatures == Reuse) {
		iTargetU = add(in.uWeak, k, false, "target")
	}
	iX = add(in.xWeak, k, true, "labelled")
	if o.Consistency == Both {
		iStrongX = add(in.xStrong, k, true, "strong")
	}
	if o.Consistency != Nothing {
		iStrongU = add(in.uStrong, k, true, "strong")
	}
	var intra, inter mixed
	if mixing && o.IntraWeight > 0 {
		intra = mixIntra(in, o)
		iIntra = add(intra.images, k, true, "intra")
	}
	if mixing && o.InterWeight > 0 && k > 1 {
		inter = mixInter(in, o)
		iInter = add(inter.images, len(o.pairs()), true, "inter")
	}

	features, pull, running := l.forward(params, views, train)
	logits := make([]*Node, len(views))
	for v := range views {
		if !views[v].grad {
			features[v] = StopGradient(features[v])
		}
		logits[v] = nets.Linear(params, nets.ClassHead, features[v])
	}

	zero := ScalarZero(in.xWeak.Graph(), in.xWeak.DType())
	out := losses{ac: zero, intra: zero, inter: zero, eg: zero, dd: zero, running: running}
	over := func(perImage *Node, parts int) *Node {
		m := ReduceAllMean(perImage)
		if o.Reduction == SumOverDomains {
			m = MulScalar(m, float64(parts))
		}
		return m
	}

	out.ce = over(objective.CrossEntropy(logits[iX], in.xLabel), k)
	if o.Consistency != Nothing {
		out.pseudoLabel, out.mask = objective.PseudoLabel(logits[iTargetU], o.Tau)
		strong := objective.Consistency(logits[iStrongU], out.pseudoLabel, out.mask)
		if o.Consistency == Both {
			from := iTargetX
			if from < 0 {
				from = iX // the same logits without BatchNorm
			}
			label, mask := objective.PseudoLabel(logits[from], o.Tau)
			strong = Concatenate([]*Node{objective.Consistency(logits[iStrongX], label, mask), strong}, 0)
		}
		out.ac = over(strong, k)
	}
	if iIntra >= 0 {
		out.intra = over(intra.loss(logits[iIntra]), k)
		out.eg = Add(out.eg, MulScalar(out.intra, o.IntraWeight))
	}
	if iInter >= 0 {
		out.inter = over(inter.loss(logits[iInter]), len(o.pairs()))
		out.eg = Add(out.eg, MulScalar(out.inter, o.InterWeight))
	}
	out.ss = Add(Add(out.ce, out.ac), MulScalar(out.eg, o.Delta))

	// Autodiff goes down to the features; the backbone has its own way back.
	leaves := []*Node{params[nets.ClassHead+".weight"], params[nets.ClassHead+".bias"]}
	for v := range views {
		if views[v].grad {
			leaves = append(leaves, features[v])
		}
	}
	d := Gradient(out.ss, leaves...)
	adjoints := make([]*Node, len(views))
	next := 2
	for v := range views {
		if views[v].grad {
			adjoints[v] = d[next]
			next++
		}
	}
	out.grads = pull(adjoints)
	out.grads[nets.ClassHead+".weight"], out.grads[nets.ClassHead+".bias"] = d[0], d[1]
	if iTargetU >= 0 {
		out.domainFeatures = features[iTargetU]
	}
	return out
}

// domainLoss is L_dd on detached features [n, features] of images from the given
// domains (int32 [n]), with its gradients by name.
func (l *Learner) domainLoss(params map[string]*Node, features, domain *Node) (dd *Node, grads map[string]*Node) {
	o := l.o
	h := o.DomainHead.Logits(params, StopGradient(features))
	dd = ReduceAllMean(objective.CrossEntropy(h, domain))
	if o.Reduction == SumOverDomains {
		dd = MulScalar(dd, float64(o.Domains))
	}
	grads = map[string]*Node{}
	var names []string
	var leaves []*Node
	for _, p := range o.DomainHead.Params(features.Shape().Dimensions[1], o.Domains) {
		names = append(names, p.Name)
		leaves = append(leaves, params[p.Name])
	}
	for i, g := range Gradient(dd, leaves...) {
		grads[names[i]] = g
	}
	return dd, grads
}

// mixed are images that MixUp has made, their two labels and the first one's
// share.
type mixed struct {
	images         *Node
	labelA, labelB *Node // int32
	lambda         *Node // float32
}

func (m mixed) loss(logits *Node) *Node {
	return objective.MixCrossEntropy(logits, m.labelA, m.labelB, m.lambda)
}

// mixIntra mixes every reliable image with a partner from its own domain; a
// domain shares one lambda.
func mixIntra(in inputs, o Options) mixed {
	partner := InsertAxes(in.partner, 1)
	m := mixed{
		labelA: in.rLabel,
		labelB: Gather(in.rLabel, partner),
		lambda: perPart(in.lambdaIntra, o.PerDomain),
	}
	m.images = objective.MixUp(in.rStrong, Gather(in.rStrong, partner), m.lambda)
	return m
}

// mixInter mixes, for every pair of domains, image b of the one with image b of
// the other; a pair shares one lambda.
func mixInter(in inputs, o Options) mixed {
	var a, b, labelA, labelB []*Node
	rows := func(x *Node, k int) *Node {
		return SliceAxis(x, 0, AxisRange(k*o.PerDomain, (k+1)*o.PerDomain))
	}
	for _, p := range o.pairs() {
		a, b = append(a, rows(in.rStrong, p[0])), append(b, rows(in.rStrong, p[1]))
		labelA, labelB = append(labelA, rows(in.rLabel, p[0])), append(labelB, rows(in.rLabel, p[1]))
	}
	m := mixed{
		labelA: Concatenate(labelA, 0),
		labelB: Concatenate(labelB, 0),
		lambda: perPart(in.lambdaInter, o.PerDomain),
	}
	m.images = objective.MixUp(Concatenate(a, 0), Concatenate(b, 0), m.lambda)
	return m
}

// perPart repeats each value of v [parts] n times, [parts*n].
func perPart(v *Node, n int) *Node {
	parts := v.Shape().Dimensions[0]
	return Reshape(BroadcastToDims(Reshape(v, parts, 1), parts, n), parts*n)
}
