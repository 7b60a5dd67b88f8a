package feed

import (
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ledg-go/ledg/ceg/seed"
)

// MixUp holds the random choices that mix one batch of reliable examples: within
// each of the K domains and between each pair of them: M_intra and M_inter of Yuan
// et al. 2022, with one coefficient per domain or pair and iteration, not
// folded to at least one half, as in the published code (trainers/adg.py).
type MixUp struct {
	// IntraLambda holds one coefficient in [0, 1] per domain: slot i of domain k is
	// mixed as λ*x[i] + (1-λ)*x[IntraPartner[i]].
	IntraLambda []float64
	// IntraPartner holds the partner of each of the K*Batch slots, a slot of the
	// same domain; within a domain it is a permutation (which may leave a slot
	// with itself).
	IntraPartner []int32
	// InterLambda holds one coefficient in [0, 1] per pair of domains (i, j), i < j,
	// ordered (0,1), (0,2), ..., (1,2), ...: example b of domain i is mixed with
	// example b of domain j as λ*x_i + (1-λ)*x_j. Coefficients are float64 because
	// in float32 many draws of Beta(0.2, 0.2) round to 1.
	InterLambda []float64
}

// draw fills m for an iteration.
func (m *MixUp) draw(cfg *Config, epoch, iteration int) {
	k := len(cfg.Domains)
	r := seed.New(cfg.Seed, "mixup", uint64(epoch), uint64(iteration))
	beta := distuv.Beta{Alpha: cfg.MixUpAlpha, Beta: cfg.MixUpAlpha, Src: r}
	m.IntraLambda, m.IntraPartner, m.InterLambda = m.IntraLambda[:0], m.IntraPartner[:0], m.InterLambda[:0]
	for d := range k {
		m.IntraLambda = append(m.IntraLambda, beta.Rand())
		for _, i := range r.Perm(cfg.Batch) {
			m.IntraPartner = append(m.IntraPartner, int32(d*cfg.Batch+i))
		}
	}
	for range k * (k - 1) / 2 {
		m.InterLambda = append(m.InterLambda, beta.Rand())
	}
}
