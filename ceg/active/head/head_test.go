package head

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

func matrix(cols int, v ...float32) Matrix {
	return Matrix{Rows: len(v) / cols, Cols: cols, Stride: cols, Data: v}
}

// groups are samples around a centre for each class.
func groups(rows, cols, classes int, r *rand.Rand) (Matrix, []int) {
	centres := make([]float64, classes*cols)
	for i := range centres {
		centres[i] = r.NormFloat64()
	}
	m, of := matrix(cols, make([]float32, rows*cols)...), make([]int, rows)
	for i := range rows {
		of[i] = i % classes
		for j := range cols {
			m.Data[i*cols+j] = float32(3*centres[of[i]*cols+j] + r.NormFloat64() + 5)
		}
	}
	return m, of
}

func accuracy(logits Matrix, classes []int) float64 {
	hits := 0
	for i, c := range classes {
		best := 0
		for k, v := range logits.Data[i*logits.Cols : (i+1)*logits.Cols] {
			if v > logits.Data[i*logits.Cols+best] {
				best = k
			}
		}
		if best == c {
			hits++
		}
	}
	return float64(hits) / float64(len(classes))
}

// Every head learns groups that lie apart, also from fewer samples than features, and
// never predicts a class without labels.
func TestHeadsLearn(t *testing.T) {
	r := seed.New(1, "heads")
	x, classes := groups(60, 40, 3, r)
	first := func(n int) (Matrix, []int) { return matrix(40, x.Data[:n*40]...), classes[:n] }
	text := matrix(40, append([]float32{}, x.Data[:4*40]...)...)
	for j := range 40 { // of class 3, which has no labels, nowhere near
		text.Data[3*40+j] = -x.Data[j]
	}
	labelled, of := first(12)
	fit := map[string]func() (Head, error){
		"logistic": func() (Head, error) { return Fit(labelled, of, 4, Options{}) },
		"gda":      func() (Head, error) { return FitGDA(labelled, of, 4, GDAOptions{}) },
		"gda, one label each": func() (Head, error) {
			m, c := first(3)
			return FitGDA(m, c, 4, GDAOptions{})
		},
	}
	for name, f := range fit {
		h, err := f()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a := accuracy(h.Logits(x), classes); a < 0.95 {
			t.Errorf("%s: accuracy %v", name, a)
		}
	}
	for name, constrained := range map[string]bool{"zs-lp": false, "clap": true} {
		h := fatal.Get(Probe(labelled, of, text, ProbeOptions{Constrained: constrained, Epochs: 50}, seed.New(1, name)))(t)
		if a := accuracy(h.Logits(x), classes); a < 0.95 {
			t.Errorf("%s: accuracy %v", name, a)
		}
		again, _ := Probe(labelled, of, text, ProbeOptions{Constrained: constrained, Epochs: 50}, seed.New(1, name))
		if h.Weight[7] != again.Weight[7] {
			t.Errorf("%s: the same stream gives %v, then %v", name, h.Weight[7], again.Weight[7])
		}
	}
}

// Fits of a few samples end, however little there is to gain: without a limit one of
// these looks for a lower loss for ever.
func TestSmallFitsEnd(t *testing.T) {
	r := seed.New(1, "small fits")
	for range 60 {
		n := 4 + r.IntN(6)
		x, _ := groups(n, 8, 7, r)
		classes, domains := make([]int, n), make([]int, n)
		for i := range n {
			classes[i], domains[i] = r.IntN(7), r.IntN(3)
		}
		fatal.Get(Fit(x, classes, 7, Options{Domains: domains}))(t)
	}
}

// Fits of features whose scales fall over four decades end at the optimum, with a class without
// labels, too: the loss above it is at most |gradient by W|^2 C rows / 2, by strong convexity.
func TestSteepFitsEndAtTheOptimum(t *testing.T) {
	const rows, d, k, empty = 90, 30, 4, 2
	r := seed.New(5, "steep")
	x, of := matrix(d, make([]float32, rows*d)...), make([]int, rows)
	for i := range rows {
		of[i] = []int{0, 1, 3}[i%3]
		for j := range d {
			x.Data[i*d+j] = float32(math.Pow(10, -4*float64(j)/d) * (30*r.NormFloat64() + 20*float64(of[i]) + 50))
		}
	}
	ones := slices.Repeat([]float64{1}, d)
	for _, c := range []float64{1e-6, 1e-3, 1, 1e3} {
		h := fatal.Get(Fit(x, of, k, Options{Cs: []float64{c}, Mean: make([]float64, d), Scale: ones}))(t)
		loss, slope, bias, p := 0.0, slices.Clone(h.Weight), make([]float64, k), make([]float64, k)
		for j, w := range h.Weight {
			loss, slope[j] = loss+w*w/(2*c*rows), w/(c*rows)
		}
		for i := range rows {
			row := x.Data[i*d : (i+1)*d]
			Softmax(p, h.LogitsOf(p, row))
			loss -= math.Log(p[of[i]]) / rows
			if p[empty] > 1e-8 {
				t.Fatalf("C %v: row %d is of the class without labels with probability %v", c, i, p[empty])
			}
			p[of[i]]--
			for class, q := range p {
				bias[class] += q / rows
				for j, v := range row {
					slope[class*d+j] += q * float64(v) / rows
				}
			}
		}
		square := 0.0
		for _, s := range slope {
			square += s * s
		}
		if above := square * c * rows / 2; above > 1e-7*loss || max(slices.Max(bias), -slices.Min(bias)) > 1e-6 {
			t.Errorf("C %v: the loss %v is up to %.3g above the optimum; slopes of biases %v", c, loss, above, bias)
		}
	}
}

// The penalty of CLAP keeps vectors near the class embeddings.
func TestCLAPStaysNearTheText(t *testing.T) {
	x, classes := groups(30, 10, 3, seed.New(2, "heads"))
	text := matrix(10, x.Data[30:60]...)
	moved := map[bool]float64{}
	for _, constrained := range []bool{false, true} {
		h := fatal.Get(Probe(x, classes, text, ProbeOptions{Constrained: constrained, Epochs: 60}, seed.New(1, "probe")))(t)
		for j, v := range h.Weight {
			moved[constrained] += math.Abs(v - float64(text.Data[j]))
		}
	}
	if moved[true] > moved[false]/2 {
		t.Errorf("with the penalty vectors move by %v, without by %v", moved[true], moved[false])
	}
}

// With text, the Gaussians' weight has the best cross-validated accuracy.
func TestGDAChoosesAlpha(t *testing.T) {
	x, classes := groups(60, 10, 3, seed.New(3, "heads"))
	wrong := matrix(10, append(append(append([]float32{}, x.Data[10:20]...), x.Data[20:30]...), x.Data[:10]...)...)
	domains := make([]int, 60)
	for i := range domains {
		domains[i] = i / 20
	}
	g := fatal.Get(FitGDA(x, classes, 3, GDAOptions{Text: wrong, Domains: domains}))(t)
	if a := accuracy(g.Logits(x), classes); g.Alpha < 1 || a < 0.95 || len(g.Scores) != 7 {
		t.Errorf("with embeddings of the wrong classes alpha is %v, accuracy %v: %+v", g.Alpha, a, g.Scores)
	}
}

func TestHeadErrors(t *testing.T) {
	x, classes := groups(9, 4, 3, seed.New(1, "heads"))
	nan := matrix(4, append([]float32{}, x.Data...)...)
	nan.Data[5*4+2] = float32(math.NaN())
	for want, f := range map[string]func() error{
		"labelled features: row 5: column 2 is NaN": func() error { _, err := Fit(nan, classes, 3, Options{}); return err },
		"labelled row 2: class 2, want 0 to 1":      func() error { _, err := FitGDA(x, classes, 2, GDAOptions{}); return err },
		"8 classes of 9 labelled samples":           func() error { _, err := Fit(x, classes[:8], 3, Options{}); return err },
		"no labelled samples":                       func() error { _, err := Fit(matrix(4), nil, 3, Options{}); return err },
		"C of 0, want above 0":                      func() error { _, err := Fit(x, classes, 3, Options{Cs: []float64{0}}); return err },
		"2 domains of 9 labelled samples":           func() error { _, err := Fit(x, classes, 3, Options{Domains: []int{0, 1}}); return err },
		"3 means for 4 features":                    func() error { _, err := Fit(x, classes, 3, Options{Mean: make([]float64, 3)}); return err },
		"deviations from the mean, want below 1e15": func() error {
			_, err := Fit(x, classes, 3, Options{Mean: make([]float64, 4), Scale: slices.Repeat([]float64{1e-30}, 4)})
			return err
		},
		"class embeddings: 2 x 4, want 3 x 4":              func() error { _, err := FitGDA(x, classes, 3, GDAOptions{Text: matrix(4, x.Data[:8]...)}); return err },
		"class embeddings: row 1 has the squared length 0": func() error { _, err := ZeroShot(matrix(2, 1, 2, 0, 0)); return err },
		"no random stream":                                 func() error { _, err := Probe(x, classes, matrix(4, x.Data[:12]...), ProbeOptions{}, nil); return err },
	} {
		fatal.Says(t, f(), want)
	}
}

// BenchmarkFit chooses the strength by three domains and fits 400 labels of 1280
// features and seven classes.
func BenchmarkFit(b *testing.B) {
	r := seed.New(1, "bench")
	x, classes := groups(400, 1280, 7, r)
	for i := range x.Data {
		x.Data[i] += float32(8 * r.NormFloat64())
	}
	domains := make([]int, 400)
	for i := range domains {
		domains[i] = i % 3
	}
	for b.Loop() {
		fatal.Get(Fit(x, classes, 7, Options{Domains: domains}))(b)
	}
}

// A sample of weight 3 counts as three samples, in the choice of the strength, too.
func TestFitWeights(t *testing.T) {
	r := seed.New(4, "weights")
	x, classes := groups(24, 6, 3, r)
	for i := range x.Data {
		x.Data[i] += float32(3 * r.NormFloat64()) // groups that lie in each other
	}
	zeros, ones := make([]float64, 6), []float64{1, 1, 1, 1, 1, 1}
	weights, domains := make([]float64, 24), make([]int, 24)
	many, of := matrix(6), []int{}
	for i := range weights {
		weights[i], domains[i] = float64(1+i%3), i/12
		for range 1 + i%3 {
			many.Data, many.Rows = append(many.Data, x.Data[i*6:(i+1)*6]...), many.Rows+1
			of = append(of, classes[i])
		}
	}
	weighted := fatal.Get(Fit(x, classes, 3, Options{Mean: zeros, Scale: ones, Weights: weights, Cs: []float64{0.1}}))(t)
	repeated := fatal.Get(Fit(many, of, 3, Options{Mean: zeros, Scale: ones, Cs: []float64{0.1}}))(t)
	plain := fatal.Get(Fit(x, classes, 3, Options{Mean: zeros, Scale: ones, Cs: []float64{0.1}}))(t)
	far := 0.0
	for i, v := range weighted.Weight {
		if math.Abs(v-repeated.Weight[i]) > 1e-5 {
			t.Errorf("weight %d is %v, of repeated samples %v", i, v, repeated.Weight[i])
		}
		far = max(far, math.Abs(v-plain.Weight[i]))
	}
	if far < 1e-3 {
		t.Errorf("weights change the head by %v", far)
	}
	if _, err := Fit(x, classes, 3, Options{Weights: weights, Domains: domains}); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]float64{weights[:3], append([]float64{0}, weights[1:]...), append([]float64{math.NaN()}, weights[1:]...)} {
		if _, err := Fit(x, classes, 3, Options{Weights: bad}); err == nil {
			t.Errorf("weights %v were taken", bad)
		}
	}
}
