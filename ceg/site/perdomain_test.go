package site_test

import (
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/datasets/seed"
	"github.com/ledg-go/ledg/internal/fatal"
)

// Domains that differ in where their features lie and how far they spread are alike once each
// is standardised by its own images, and the head is for the site's features as they are.
func TestAdaptPerDomain(t *testing.T) {
	s, u := sources(), clouds(90, 0, "site")
	r := seed.New(3, "order")
	for i := range u.Len() { // the site is a source that was moved and stretched
		for j, v := range u.Features.Data[i*6 : i*6+6] {
			u.Features.Data[i*6+j] = 3*v - 5*float32(j) + 7
		}
	}
	a := u.Take(r.Perm(u.Len())[:1])
	h := fatal.Get(s.AdaptPerDomain(a, u.Features))(t)
	plain := fatal.Get(s.Adapt(a))(t)
	if per, all := right(h.Predict(u.Features), u.Classes), right(plain.Predict(u.Features), u.Classes); per < 0.95 || all > 0.7 {
		t.Errorf("%v are right with domains by themselves, %v without", per, all)
	}
	// Shifting the whole site, with the adaptation set, does not change its predictions.
	before := slices.Clone(h.Logits(u.Features).Data)
	moved := u.Take(slices.Sorted(slices.Values(r.Perm(u.Len()))))
	for i := range moved.Features.Data {
		moved.Features.Data[i] = 2*moved.Features.Data[i] + 1
	}
	b := a
	b.Features = a.Take([]int{0}).Features
	for i := range b.Features.Data {
		b.Features.Data[i] = 2*b.Features.Data[i] + 1
	}
	h = fatal.Get(s.AdaptPerDomain(b, moved.Features))(t)
	for i, v := range h.Logits(moved.Features).Data {
		if math.Abs(float64(v-before[i])) > 1e-3*max(1, math.Abs(float64(before[i]))) {
			t.Fatalf("logit %d is %v, was %v", i, v, before[i])
		}
	}
}
