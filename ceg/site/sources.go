package site

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
)

// Part is a set of images with the run's outputs, row by row.
type Part struct {
	IDs []string
	// Features [n, D] are the input of the class head, Logits [n, C] the run's; either may be
	// empty if not needed.
	Features, Logits head.Matrix
	// Classes and Domains are indices; nil if unknown.
	Classes, Domains []int
	// Groups are indices of groups; nil without groups.
	Groups []int
}

// Len returns the number of images.
func (p Part) Len() int { return max(p.Features.Rows, p.Logits.Rows) }

// Take returns the images in rows.
func (p Part) Take(rows []int) Part {
	var out Part
	if p.Features.Rows > 0 {
		out.Features = cluster.SelectRows(p.Features, rows)
	}
	if p.Logits.Rows > 0 {
		out.Logits = cluster.SelectRows(p.Logits, rows)
	}
	for _, i := range rows {
		if p.IDs != nil {
			out.IDs = append(out.IDs, p.IDs[i])
		}
		if p.Classes != nil {
			out.Classes = append(out.Classes, p.Classes[i])
		}
		if p.Groups != nil {
			out.Groups = append(out.Groups, p.Groups[i])
		}
		if p.Domains != nil {
			out.Domains = append(out.Domains, p.Domains[i])
		}
	}
	return out
}

// Sources holds a run's source images.
type Sources struct {
	ClassNames, DomainNames []string
	// Labelled are the labelled training images, Held labelled held-out images, and Others
	// unlabelled images, or some of them.
	Labelled, Held, Others Part
	// Blank are the features of images that show nothing, such as noise. A site's images that are
	// nearer to these than to any source image look new; see [audit.Strangeness].
	Blank head.Matrix
	// Trained is true if the features were trained on the labels, as with a network on images.
	// Cross-validating a head on such features is not informative.
	Trained bool
	// Seen is the run's own accuracy estimate on more images of its domains, empty without one.
	Seen result.Tally
	// Own is the run's class head on the features; nil if its logits are not linear in them, as
	// with a cosine classifier.
	Own *head.Linear

	c   float64      // see SelectC; 0 until selected
	out *head.Matrix // see OutOfFold
}

// SelectC returns the C of logistic regression on the labelled images, selected by
// leave-one-domain-out.
func (s *Sources) SelectC() (float64, error) {
	if s.c == 0 {
		h, err := head.Fit(s.Labelled.Features, s.Labelled.Classes, len(s.ClassNames), s.options(s.Labelled))
		if err != nil {
			return 0, err
		}
		s.c = h.C
	}
	return s.c, nil
}

// options configure a head on unchanged features: the run has standardised them.
func (s *Sources) options(p Part) head.Options {
	zeros, ones := make([]float64, p.Features.Cols), make([]float64, p.Features.Cols)
	for j := range ones {
		ones[j] = 1
	}
	return head.Options{Domains: p.Domains, Groups: p.Groups, Mean: zeros, Scale: ones}
}

// fit fits a head on some images.
func (s *Sources) fit(p Part) (*head.Linear, error) {
	c, err := s.SelectC()
	if err != nil {
		return nil, err
	}
	o := s.options(p)
	o.Cs = []float64{c}
	return head.Fit(p.Features, p.Classes, len(s.ClassNames), o)
}

// Weight returns the sample weight of each of k adaptation images beside n source images: max(1,
// n/2k).
func Weight(n, k int) float64 { return max(1, float64(n)/float64(2*max(k, 1))) }

// Share returns the mixing weight k/(k + c) of a head fitted with k images of the site among c
// classes; the run's own head thus counts as one image a class.
func Share(k, c int) float64 { return float64(k) / float64(k+c) }

// Adapt fits a class head on the labelled source images and the adaptation images a, which have
// [Weight]: multinomial logistic regression on the run's features, with C selected on the source
// domains. The result is the average, with [Share], of this head and the run's own if there is
// one. This is a product of the two heads' probabilities, which keeps what the run learned from
// unlabelled images. With an empty a it is the run's own head. No other data of the site is
// used.
func (s *Sources) Adapt(a Part) (*head.Linear, error) {
	h, err := s.refit(a)
	if err != nil {
		return nil, err
	}
	return s.withOwn(h, a.Len()), nil
}

// refit fits a head on the labelled source images and the adaptation images.
func (s *Sources) refit(a Part) (*head.Linear, error) {
	c, err := s.SelectC()
	if err != nil {
		return nil, err
	}
	n := s.Labelled.Len()
	both, classes := cluster.Join(s.Labelled.Features, a.Features), slices.Concat(s.Labelled.Classes, a.Classes)
	o := s.options(s.Labelled)
	o.Domains, o.Groups, o.Cs = nil, nil, []float64{c}
	for i := range both.Rows {
		w := 1.0
		if i >= n {
			w = Weight(n, a.Len())
		}
		o.Weights = append(o.Weights, w)
	}
	h, err := head.Fit(both, classes, len(s.ClassNames), o)
	if err != nil {
		return nil, fmt.Errorf("adapting: %w", err)
	}
	return h, nil
}

// withOwn is the mean of a head that was fitted with k images of the site and the run's own.
func (s *Sources) withOwn(h *head.Linear, k int) *head.Linear {
	if s.Own == nil {
		return h
	}
	share := Share(k, len(s.ClassNames))
	mean := func(fitted, own []float64) []float64 {
		out := make([]float64, len(own))
		for i, v := range own {
			out[i] = share*fitted[i] + (1-share)*v
		}
		return out
	}
	return &head.Linear{Weight: mean(h.Weight, s.Own.Weight), Bias: mean(h.Bias, s.Own.Bias), C: h.C}
}

// fewestHeld is how many held-out images are needed before they are preferred to folds.
const fewestHeld = 50

// Trust is the run's accuracy on its source domains, with a calibrating temperature. With at
// least 50 Held images it uses these, otherwise cross-validated logistic regression in place of
// the run's head. If the features were trained on the labels it always uses Held, and the
// temperature is 1 with fewer than 50.
type Trust struct {
	Accuracy    float64 `json:"accuracy"`
	Temperature float64 `json:"temperature"`
	Images      int     `json:"images"`
	// Folds is true if it is cross-validated.
	Folds bool `json:"folds,omitempty"`
}

// Trust computes the run's accuracy on its source domains.
func (s *Sources) Trust() (t Trust, err error) {
	part, logits := s.Held, s.Held.Logits
	if part.Len() < fewestHeld && !s.Trained {
		part, t.Folds = s.Labelled, true
		if logits, err = s.OutOfFold(); err != nil {
			return t, err
		}
	}
	l := labelled(logits, part.Classes)
	if t.Images, t.Temperature = part.Len(), 1; t.Images >= fewestHeld || t.Folds {
		t.Temperature = calibration.FitTemperature(l)
	}
	t.Accuracy = calibration.Measure(l, 1).Accuracy
	return t, nil
}

// OutOfFold returns cross-validated logits [n, C] of the labelled images, in [audit.Folds]
// folds.
func (s *Sources) OutOfFold() (head.Matrix, error) {
	if s.out != nil {
		return *s.out, nil
	}
	n, c := s.Labelled.Len(), len(s.ClassNames)
	out := head.Matrix{Rows: n, Cols: c, Stride: c, Data: make([]float32, n*c)}
	l := audit.Labelled{Classes: s.Labelled.Classes, Domains: make([]int, n), ClassNames: s.ClassNames, DomainNames: []string{"all"}, Groups: s.Labelled.Groups}
	_, err := audit.Cross(l, func(train []int) (func([]int) []int, error) {
		h, err := s.fit(s.Labelled.Take(train))
		if err != nil {
			return nil, err
		}
		return func(test []int) []int {
			z := h.Logits(s.Labelled.Take(test).Features)
			for k, i := range test {
				copy(out.Data[i*c:(i+1)*c], z.Data[k*c:(k+1)*c])
			}
			return h.Predict(s.Labelled.Take(test).Features)
		}, nil
	})
	s.out = &out
	return out, err
}

// Scores returns conformal scores of the true classes; infinite for classes unknown to the
// network, which no set contains.
func Scores(logits head.Matrix, classes []int, temperature float64) (scores []float64) {
	for i, c := range classes {
		score := math.Inf(1)
		if c >= 0 {
			score = audit.Score(calibration.Softmax(Row(logits, i), temperature)[c])
		}
		scores = append(scores, score)
	}
	return scores
}

// Row returns row i of a matrix.
func Row(m head.Matrix, i int) []float32 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

func labelled(logits head.Matrix, classes []int) (l calibration.Labelled) {
	for i, c := range classes {
		l.Logits, l.Class = append(l.Logits, Row(logits, i)), append(l.Class, c)
	}
	return l
}

// Best returns the class with the largest logit in each row; ties go to the lower class.
func Best(logits head.Matrix) []int {
	out := make([]int, logits.Rows)
	for i := range out {
		for c, v := range Row(logits, i) {
			if v > logits.Data[i*logits.Stride+out[i]] {
				out[i] = c
			}
		}
	}
	return out
}

// LogitsOf returns the logits of the adapted head, or of the run if it is nil.
func LogitsOf(p Part, adapted *head.Linear) head.Matrix {
	if adapted == nil {
		return p.Logits
	}
	return adapted.Logits(p.Features)
}
