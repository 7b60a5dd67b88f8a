package site

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Settings of the label-free estimates.
const (
	// transported is how many images are moved, drawn from all, and compared how many are
	// compared with the site's, drawn from the sources'.
	transported, compared = 300, 2000
	// enoughToAgree is the number of labels from which on halves of them tell anything.
	enoughToAgree = 300
	// apart is the largest difference between estimates for which their mean is reported.
	apart = 0.15
)

// AccuracyEstimate is a label-free accuracy estimate on a site, with statistics of its images.
type AccuracyEstimate struct {
	// Images is the number of images, Labels the number of source labels.
	Images int `json:"images"`
	Labels int `json:"labels"`
	// Source is the accuracy on the source domains; see [Sources.Trust].
	Source Trust `json:"source"`
	// Transport and Agreement are the estimates of package audit; Agreement is nil with fewer
	// than 300 labels, and for features that were trained on the labels. Accuracy is their mean,
	// nil if they differ by more than 15 points.
	Transport float64  `json:"transport"`
	Agreement *float64 `json:"agreement,omitempty"`
	Accuracy  *float64 `json:"accuracy,omitempty"`
	// Near lists the source domains with the share of the site's images whose most similar image
	// is of that domain.
	Near []Near `json:"near"`
	// Unfamiliar is the share of images that look new: farther from all sources than 95% of the
	// source images are from the other domains (with one domain, from the rest). So 5% are false
	// alarms on a site as far from the sources as they are from each other. An image nearer to a
	// blank image or to noise counts as farther. LooksNew are their IDs, farthest first, and
	// Strangest the first 12. Unflagged means that there are too few source images to tell.
	Unfamiliar float64  `json:"unfamiliar"`
	Unflagged  bool     `json:"unflagged,omitempty"`
	Strangest  []string `json:"strangest"`
	LooksNew   []string `json:"looks_new,omitempty"`
	// Seen counts the predictions of each class. Rare are classes predicted less than a quarter
	// as often as their share of the labels suggests.
	Classes []string `json:"classes"`
	Seen    []int    `json:"seen"`
	Rare    []string `json:"rare"`
}

// Near is a domain with the share of images nearest to it.
type Near struct {
	Domain string  `json:"domain"`
	Share  float64 `json:"share"`
}

// EstimateAccuracy estimates the run's accuracy on the images of a site.
func (s *Sources) EstimateAccuracy(site Part, runSeed uint64) (*AccuracyEstimate, error) {
	g := &AccuracyEstimate{Images: site.Len(), Labels: s.Labelled.Len(), Classes: s.ClassNames, Seen: make([]int, len(s.ClassNames)), Rare: []string{}, Strangest: []string{}}
	if g.Images == 0 {
		return nil, fmt.Errorf("a site without images")
	}
	var err error
	if g.Source, err = s.Trust(); err != nil {
		return nil, err
	}
	prior := s.prior()
	if g.Transport, err = s.transport(site, g.Source.Temperature, runSeed); err != nil {
		return nil, err
	}
	best := Best(site.Logits)
	for _, c := range best {
		g.Seen[c]++
	}
	for c, n := range g.Seen {
		if expected := prior[c] * float64(g.Images); expected >= audit.FewestOfClass && float64(4*n) < expected {
			g.Rare = append(g.Rare, s.ClassNames[c])
		}
	}
	g.Accuracy = &g.Transport
	if g.Labels >= enoughToAgree && s.Others.Len() > 0 && !s.Trained {
		if err := s.agree(g, site, runSeed); err != nil {
			return nil, err
		}
	}
	if s.Seen.Total > 0 { // the number that the run reports; the agreement above is of other heads
		g.Source.Accuracy, g.Source.Images = s.Seen.Share(), s.Seen.Total
	}
	s.compare(g, site, runSeed)
	return g, nil
}

// prior returns the shares of classes among the labels; see [audit.Prior].
func (s *Sources) prior() []float64 {
	counts := make([]int, len(s.ClassNames))
	for _, c := range s.Labelled.Classes {
		counts[c]++
	}
	return audit.Prior(counts)
}

// transport estimates accuracy on a sample of a site's images; see [audit.Transport].
func (s *Sources) transport(site Part, temperature float64, runSeed uint64) (float64, error) {
	var probs [][]float64
	for _, i := range drawn(site.Len(), transported, runSeed, "transported") {
		probs = append(probs, calibration.Softmax(Row(site.Logits, i), temperature))
	}
	return audit.Transport(probs, s.prior())
}

// drawn returns a random sample of at most the given number of n rows, in order.
func drawn(n, most int, runSeed uint64, what string) []int {
	list := seed.New(runSeed, what).Perm(n)
	list = list[:min(n, most)]
	slices.Sort(list)
	return list
}

// agree computes the agreement estimate from two heads, each fitted on a half of the labels,
// stratified by class and domain.
func (s *Sources) agree(g *AccuracyEstimate, site Part, runSeed uint64) error {
	order := seed.New(runSeed, "halves of the labels").Perm(s.Labelled.Len())
	slices.SortStableFunc(order, func(a, b int) int {
		if c := s.Labelled.Classes[a] - s.Labelled.Classes[b]; c != 0 {
			return c
		}
		return s.Labelled.Domains[a] - s.Labelled.Domains[b]
	})
	var onSite, onSources [2][]int
	others := s.Others.Take(drawn(s.Others.Len(), compared, runSeed, "compared"))
	for half := range 2 {
		var rows []int
		for at, i := range order {
			if at%2 == half {
				rows = append(rows, i)
			}
		}
		h, err := s.fit(s.Labelled.Take(rows))
		if err != nil {
			return err
		}
		onSite[half], onSources[half] = h.Predict(site.Features), h.Predict(others.Features)
	}
	v := audit.Agreement(g.Source.Accuracy, audit.Agree(onSources[0], onSources[1]), audit.Agree(onSite[0], onSite[1]))
	g.Agreement, g.Accuracy = &v, nil
	if math.Abs(v-g.Transport) <= apart {
		mean := (v + g.Transport) / 2
		g.Accuracy = &mean
	}
	return nil
}

// Familiar tells which images of a site look new, beside the sources' images or a sample of them.
type Familiar struct {
	// Novelty is the threshold of [audit.Strangeness]; nil if there are too few images for one.
	Novelty *audit.Novelty

	known   *audit.Neighbours // in groups of no image of the site
	domains []int
	blank   *audit.Neighbours // nil without
}

// Familiar draws the sample by the site's seed.
func (s *Sources) Familiar(runSeed uint64) *Familiar {
	all := Part{Features: cluster.Join(s.Labelled.Features, s.Others.Features), Domains: slices.Concat(s.Labelled.Domains, s.Others.Domains)}
	known := all.Take(drawn(all.Len(), compared, runSeed, "familiar"))
	f := &Familiar{known: audit.NewNeighbours(known.Features, make([]int, known.Len())), domains: known.Domains}
	if s.Blank.Rows > 0 {
		f.blank = audit.NewNeighbours(s.Blank, make([]int, s.Blank.Rows))
	}
	groups := known.Domains
	if slices.Min(groups) == slices.Max(groups) { // of one domain, each with the rest
		groups = slices.Clone(groups)
		for i := range groups {
			groups[i] = i
		}
	}
	f.Novelty = audit.NewNovelty(audit.DistancesApart(known.Features, known.Features, groups, groups))
	return f
}

// LooksNew reports whether an image with these features does.
func (f *Familiar) LooksNew(features []float32) bool {
	distance, _ := f.distances(head.Matrix{Rows: 1, Cols: len(features), Stride: len(features), Data: features})
	return f.Novelty.Flags(distance[0])
}

// distances returns the strangeness of images, and the domain of the nearest source image.
func (f *Familiar) distances(features head.Matrix) (distance []float64, near []int) {
	others := slices.Repeat([]int{1}, features.Rows)
	distance, near = f.known.Nearest(features, others)
	for i, at := range near {
		near[i] = f.domains[at]
	}
	if f.blank != nil {
		blank, _ := f.blank.Nearest(features, others)
		for i, d := range distance {
			distance[i] = audit.Strangeness(d, blank[i])
		}
	}
	return distance, near
}

// compare finds the nearest of the sources' images.
func (s *Sources) compare(g *AccuracyEstimate, site Part, runSeed uint64) {
	f := s.Familiar(runSeed)
	g.Unflagged = f.Novelty == nil
	distance, near := f.distances(site.Features)
	shares, strange := make([]int, len(s.DomainNames)), []int{}
	for i, d := range near {
		shares[d]++
		if f.Novelty.Flags(distance[i]) {
			strange = append(strange, i)
		}
	}
	for d, n := range shares {
		if n > 0 {
			g.Near = append(g.Near, Near{s.DomainNames[d], float64(n) / float64(site.Len())})
		}
	}
	slices.SortStableFunc(g.Near, func(a, b Near) int { return cmp.Compare(b.Share, a.Share) })
	g.Unfamiliar = float64(len(strange)) / float64(site.Len())
	slices.SortStableFunc(strange, func(a, b int) int { return cmp.Compare(distance[b], distance[a]) })
	for k, i := range strange {
		if site.IDs != nil {
			if g.LooksNew = append(g.LooksNew, site.IDs[i]); k < 12 {
				g.Strangest = append(g.Strangest, site.IDs[i])
			}
		}
	}
}
