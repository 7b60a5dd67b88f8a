package site_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/testall"
	"github.com/ledg-go/ledg/datasets/seed"
)

// reference are the images of testdata/far-lite0.npz that stand for those which package
// predict draws. The file has features by EfficientNet-Lite0 of 224 px images: of one colour, noise,
// patterns (gradients, boards and stripes), and glyphs.
var reference = []string{"blank/black.png", "blank/white.png", "blank/grey.png", "blank/red.png", "noise/00.png", "noise/01.png", "noise/06.png", "noise/09.png"}

// scored are the scores of sets of images: held are those that set thresholds.
type scored map[string][]float64

// strangeness are rates of one score, summed over classes.
type strangeness struct {
	auroc, classes float64
	flagged        [2]map[string]float64 // at 5% and 10%, by set
}

// add adds the rates of one class.
func (r *strangeness) add(s scored) {
	r.classes++
	fresh := slices.Sorted(slices.Values(s["fresh"]))
	for _, v := range s["strangers"] {
		below, _ := slices.BinarySearch(fresh, v)
		r.auroc += float64(below) / float64(len(fresh)*len(s["strangers"]))
	}
	held := slices.Sorted(slices.Values(s["held"]))
	for k, quantile := range []float64{0.95, 0.9} {
		threshold := held[int(math.Ceil(quantile*float64(len(held)+1)))-1]
		if r.flagged[k] == nil {
			r.flagged[k] = map[string]float64{}
		}
		for name, list := range s {
			for _, v := range list {
				if v > threshold {
					r.flagged[k][name] += 1 / float64(len(list))
				}
			}
		}
	}
}

// ridge returns 1 - k'(K + I/30)^-1 k of unit rows, the share of an image that the pool does not
// explain linearly. own are the left-out values of the pool's rows, and apart their distances to
// the nearest other.
func ridge(t *testing.T, pool head.Matrix) (own, apart []float64, of func(head.Matrix) []float64) {
	const noise = 1. / 30
	cosines := func(a head.Matrix) *mat.Dense {
		wide := func(m head.Matrix) *mat.Dense {
			d := mat.NewDense(m.Rows, m.Cols, nil)
			for i := range m.Rows {
				for j, v := range site.Row(m, i) {
					d.Set(i, j, float64(v))
				}
			}
			return d
		}
		var c mat.Dense
		c.Mul(wide(a), wide(pool).T())
		return &c
	}
	k := mat.NewSymDense(pool.Rows, nil)
	for i, c := 0, cosines(pool); i < pool.Rows; i++ {
		row := slices.Clone(c.RawRowView(i))
		for j := i; j < pool.Rows; j++ {
			k.SetSym(i, j, row[j])
		}
		row[i] = -1
		apart = append(apart, 1-slices.Max(row))
		k.SetSym(i, i, k.At(i, i)+noise)
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(k) || chol.InverseTo(&inverse) != nil {
		t.Fatal("the kernel is singular")
	}
	for i := range pool.Rows {
		own = append(own, 1/inverse.At(i, i)-noise)
	}
	return own, apart, func(a head.Matrix) (list []float64) {
		c := cosines(a)
		var y mat.Dense
		y.Mul(c, &inverse)
		for i := range a.Rows {
			list = append(list, 1-mat.Dot(c.RowView(i), y.RowView(i)))
		}
		return list
	}
}

// together is the sum of two scores, each divided by its deviation on held.
func together(a, b scored) scored {
	sum := scored{}
	for _, s := range []scored{a, b} {
		mean, square, n := 0.0, 0.0, float64(len(s["held"]))
		for _, v := range s["held"] {
			mean, square = mean+v/n, square+v*v/n
		}
		for name, list := range s {
			if sum[name] == nil {
				sum[name] = make([]float64, len(list))
			}
			for i, v := range list {
				sum[name][i] += v / math.Sqrt(square-mean*mean)
			}
		}
	}
	return sum
}

// The scores that looks_new was chosen from, on emoji and on each file of features by
// EfficientNet-Lite0 that LEDG_FEATURES names. Each class in turn is unknown: it has no label, and
// is not in the pool, or with LEDG_FEATURES in it, too. Blank images and noise are always flagged by the score in use.
func TestStrangerScores(t *testing.T) {
	testall.Need(t, "it scores strangers of 16 classes")
	files := [][2]string{{"emoji", filepath.Join("..", "..", "datasets", "emoji", "lite0.npz")}}
	for part := range strings.SplitSeq(os.Getenv("LEDG_FEATURES"), ",") {
		if name, path, ok := strings.Cut(part, "="); ok {
			files = append(files, [2]string{name, path})
		}
	}
	far := &simulation{t: t}
	far.p, far.classes, far.domains = features(t, filepath.Join("testdata", "far-lite0.npz"))
	var blank []int
	apart := map[string][]int{}
	for i, id := range far.p.IDs {
		if slices.Contains(reference, id) {
			blank = append(blank, i)
		} else {
			apart[far.domains[far.p.Domains[i]]] = append(apart[far.domains[far.p.Domains[i]]], i)
		}
	}
	names := []string{"label", "label, or blank", "pool", "residual", "confidence", "label + confidence"}
	sets := []string{"strangers", "fresh", "blank", "noise", "pattern", "glyphs", "new site"}
	var table bytes.Buffer
	for _, f := range files {
		s := &simulation{t: t}
		s.p, s.classes, s.domains = features(t, f[1])
		for _, inPool := range []bool{false, true}[:min(len(files), 2)] {
			rates := map[string]*strangeness{}
			for c := range s.classes {
				for name, list := range s.scores(c, inPool, far.p, blank, apart) {
					if rates[name] == nil {
						rates[name] = &strangeness{}
					}
					rates[name].add(list)
				}
			}
			for _, name := range names {
				r := rates[name]
				fmt.Fprintf(&table, "%s,%v,\"%s\",%.3f", f[0], inPool, name, r.auroc/r.classes)
				for k := range r.flagged {
					for _, set := range sets[:[]int{len(sets), 2}[k]] {
						fmt.Fprintf(&table, ",%.1f", 100*r.flagged[k][set]/r.classes)
					}
				}
				table.WriteString("\n")
			}
			if r := rates["label, or blank"]; r.flagged[0]["blank"] < r.classes || r.flagged[0]["noise"] < r.classes {
				t.Errorf("%s: %.2f of blank images and %.2f of noise are flagged, want all", f[0], r.flagged[0]["blank"]/r.classes, r.flagged[0]["noise"]/r.classes)
			}
		}
	}
	t.Logf("data,in_pool,score,auroc,%s,strangers_10,fresh_10\n%s", strings.ReplaceAll(strings.Join(sets, ","), " ", "_"), table.String())
}

// scores are all scores with class c unknown. far are images of other kinds; some are
// known as blank; apart are the others by kind.
func (s *simulation) scores(c int, inPool bool, far site.Part, blank []int, apart map[string][]int) map[string]scored {
	const most = 700
	target := c % len(s.domains)
	var known, strangers, place []int
	for i := range s.p.Classes {
		switch {
		case s.p.Domains[i] == target && s.p.Classes[i] != c:
			place = append(place, i)
		case s.p.Domains[i] == target:
		case s.p.Classes[i] == c:
			strangers = append(strangers, i)
		default:
			known = append(known, i)
		}
	}
	r := seed.New(uint64(c), "stranger scores")
	for _, list := range [][]int{known, strangers, place} {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	n := min(len(known)/2, most)
	pool, fresh := slices.Clone(known[:n]), known[n:2*n]
	if inPool { // as many as of another class
		k := min(len(strangers)/2, n/len(s.classes))
		pool, strangers = append(pool, strangers[:k]...), strangers[k:]
	}
	// As the preset: roots, centred on the pool, at length 1.
	part := s.p.Take(pool)
	centre := make([]float64, part.Features.Cols)
	for i := range part.Features.Rows {
		for j, v := range site.Row(part.Features, i) {
			centre[j] += math.Sqrt(max(float64(v), 0)) / float64(part.Features.Rows)
		}
	}
	prepared := func(p site.Part) head.Matrix {
		for i := range p.Features.Rows {
			row, square := site.Row(p.Features, i), 0.0
			for j, v := range row {
				d := math.Sqrt(max(float64(v), 0)) - centre[j]
				row[j], square = float32(d), square+d*d
			}
			for j := range row {
				row[j] = float32(float64(row[j]) / math.Sqrt(square))
			}
		}
		return p.Features
	}
	on := &simulation{t: s.t, p: part, classes: s.classes, domains: s.domains}
	on.p.Features = prepared(part)
	rows := make([]int, len(pool))
	for i := range rows {
		rows[i] = i
	}
	chosen, held := on.herded(rows, 90)
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return on.p.Classes[i] == c })
	labels := on.p.Take(chosen).Features
	h, err := head.Fit(labels, on.p.Take(chosen).Classes, len(s.classes), head.Options{Cs: []float64{0.01}})
	if err != nil {
		s.t.Fatal(err)
	}
	nothing := prepared(far.Take(blank))
	own, between, residual := ridge(s.t, on.p.Features)
	sets := map[string]head.Matrix{"held": on.p.Take(held).Features, "fresh": prepared(s.p.Take(fresh)), "strangers": prepared(s.p.Take(strangers)),
		"new site": prepared(s.p.Take(place[:min(len(place), most)]))}
	for kind, rows := range apart {
		sets[kind] = prepared(far.Take(rows))
	}
	out := map[string]scored{"label": {}, "label, or blank": {}, "pool": {}, "residual": {}, "confidence": {}}
	for name, x := range sets {
		d, b := audit.Distances(x, labels), audit.Distances(x, nothing)
		out["label"][name] = d
		for i, v := range d {
			out["label, or blank"][name] = append(out["label, or blank"][name], audit.Strangeness(v, b[i]))
		}
		out["confidence"][name] = make([]float64, x.Rows)
		z := h.Logits(x)
		for i := range x.Rows {
			out["confidence"][name][i] = -float64(slices.Max(site.Row(z, i)))
		}
		if name != "held" {
			out["pool"][name], out["residual"][name] = audit.Distances(x, on.p.Features), residual(x)
		}
	}
	for _, i := range held { // each without itself
		out["pool"]["held"], out["residual"]["held"] = append(out["pool"]["held"], between[i]), append(out["residual"]["held"], own[i])
	}
	out["label + confidence"] = together(out["label"], out["confidence"])
	typical := slices.Concat(held, chosen) // as in a run, with the labelled images, each without itself
	out["label"]["held"] = on.apart(typical, chosen)
	out["label, or blank"]["held"] = nil
	for i, b := range audit.Distances(on.p.Take(typical).Features, nothing) {
		out["label, or blank"]["held"] = append(out["label, or blank"]["held"], audit.Strangeness(out["label"]["held"][i], b))
	}
	return out
}
