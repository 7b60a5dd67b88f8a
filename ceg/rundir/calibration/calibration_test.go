package calibration_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ledg-go/ledg/ceg/rundir/calibration"
)

// drawn are logits whose classes are drawn from their softmax at a temperature.
func drawn(n int, temperature float64) (l calibration.Labelled) {
	r := rand.New(rand.NewPCG(5, 6))
	for range n {
		z := make([]float32, 4)
		sum, p := 0.0, make([]float64, 4)
		for k := range z {
			z[k] = float32(3 * r.NormFloat64())
			p[k] = math.Exp(float64(z[k]) / temperature)
			sum += p[k]
		}
		at, k := r.Float64()*sum, 0
		for ; k < 3 && at > p[k]; k++ {
			at -= p[k]
		}
		l.Logits, l.Class = append(l.Logits, z), append(l.Class, k)
	}
	return l
}

// The temperature that generated the classes is recovered, and the network is calibrated with it.
func TestFitTemperatureFindsTheTruth(t *testing.T) {
	for _, want := range []float64{0.5, 1, 2.5} {
		l := drawn(6000, want)
		got := calibration.FitTemperature(l)
		if math.Abs(got/want-1) > 0.06 { // 6,000 draws
			t.Errorf("temperature %v, want %v", got, want)
		}
		before, after := calibration.Measure(l, 1), calibration.Measure(l, got)
		if after.ECE > 0.02 || after.NLL > before.NLL || after.Accuracy != before.Accuracy {
			t.Errorf("temperature %v: ECE %v to %v, NLL %v to %v, accuracy %v to %v", want, before.ECE, after.ECE, before.NLL, after.NLL, before.Accuracy, after.Accuracy)
		}
	}
	// Nothing to fit on, and nothing that a finite temperature fits.
	if got := calibration.FitTemperature(calibration.Labelled{}); got != 1 {
		t.Errorf("temperature %v without images", got)
	}
	right := calibration.Labelled{Logits: [][]float32{{1, 0}, {0, 1}}, Class: []int{0, 1}}
	if got := calibration.FitTemperature(right); math.Abs(got-0.05) > 1e-9 {
		t.Errorf("temperature %v where all is right", got)
	}
}

func TestMeasureByHand(t *testing.T) {
	// Two classes, so that logits (z, 0) give the first the probability 1/(1+e^-z).
	logit := func(p float64) []float32 { return []float32{float32(math.Log(p / (1 - p))), 0} }
	l := calibration.Labelled{
		Logits: [][]float32{logit(0.9), logit(0.9), logit(0.9), logit(0.6)},
		Class:  []int{0, 0, 1, 1},
	}
	r := calibration.Measure(l, 1)
	// The bin of 0.9 has 3 images, 2 of them right; that of 0.6 one, wrong.
	ece := 3./4*math.Abs(2./3-0.9) + 1./4*0.6
	nll := -(2*math.Log(0.9) + math.Log(0.1) + math.Log(0.4)) / 4
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"accuracy", r.Accuracy, 0.5}, {"confidence", r.Confidence, 3.3 / 4}, {"ECE", r.ECE, ece}, {"NLL", r.NLL, nll},
		{"images of bin 13", float64(r.Bins[13].Images), 3}, {"accuracy of bin 13", r.Bins[13].Accuracy, 2. / 3},
		{"images of bin 8", float64(r.Bins[8].Images), 1}, {"confidence of bin 8", r.Bins[8].Confidence, 0.6},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
}
