package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/result"
)

// Labelled describes the labelled source images.
type Labelled struct {
	// Classes and Domains [n] are indices of the images' classes and domains, followed by the
	// names.
	Classes, Domains        []int
	ClassNames, DomainNames []string
	// Groups are the groups of the images, or nil. No group is in both the training and the test
	// part of a fold.
	Groups []int
}

// Fit fits a classifier on some labelled images, by index, and returns its prediction function
// for others.
type Fit func(train []int) (see func(test []int) []int, err error)

// Estimate is a cross-validated accuracy estimate from the training labels: each image is
// predicted by a classifier fitted on others.
type Estimate struct {
	// Labels is the number of labelled images.
	Labels int `json:"labels"`
	// Groups is the number of their groups, or 0.
	Groups int `json:"groups,omitempty"`
	// Seen is the accuracy on the source distribution, by [Folds] folds stratified by class and
	// domain. Classes has the accuracy of each class, Counts the confusion matrix.
	Seen      result.Tally `json:"seen"`
	SeenShare Interval     `json:"seen_accuracy"`
	Classes   []Class      `json:"classes"`
	Counts    *Counts      `json:"confusion"`
	// LeftOut is the leave-one-domain-out accuracy of each domain, nil with fewer than two;
	// Unseen is their total.
	LeftOut     []Domain     `json:"left_out,omitempty"`
	Unseen      result.Tally `json:"unseen"`
	UnseenShare *Interval    `json:"unseen_accuracy,omitempty"`
	// Chosen names the strategy that selected the images, empty for a random sample, and By the
	// classifier. The caller sets both.
	Chosen string `json:"chosen,omitempty"`
	By     string `json:"by,omitempty"`
	// Warnings are sentences about the estimate's limitations.
	Warnings []string `json:"warnings,omitempty"`
	// Missed lists the labelled images that cross-validation misclassifies.
	Missed []Miss `json:"-"`
}

// Miss is a misclassified image, by index, with its predicted class.
type Miss struct{ Image, Seen int }

// Domain is the accuracy on a domain.
type Domain struct {
	Domain   string       `json:"domain"`
	Tally    result.Tally `json:"right"`
	Accuracy Interval     `json:"accuracy"`
}

// Folds is the number of folds of an [Estimate].
const Folds = 5

// Cross computes an estimate by cross-validation. Fewer than two labelled images, or groups, are
// an error.
func Cross(l Labelled, fit Fit) (*Estimate, error) {
	n := len(l.Classes)
	if n < 2 || len(l.Domains) != n {
		return nil, fmt.Errorf("estimate: %d labelled images and %d domains, want at least two", n, len(l.Domains))
	}
	e := &Estimate{Labels: n, Counts: NewCounts(l.ClassNames)}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if c := l.Classes[a] - l.Classes[b]; c != 0 {
			return c
		}
		return l.Domains[a] - l.Domains[b]
	})
	if l.Groups != nil {
		if e.Groups = len(slices.Compact(slices.Sorted(slices.Values(l.Groups)))); e.Groups < 2 || len(l.Groups) != n {
			return nil, fmt.Errorf("estimate: %d labelled images of %d groups, want at least two", n, e.Groups)
		}
	}
	err := l.leaveOut(head.Deal(order, l.Groups, Folds), fit, func(i, seen int) {
		e.Seen.Count(seen, l.Classes[i])
		e.Counts.Add(l.ClassNames[l.Classes[i]], seen)
		if seen != l.Classes[i] {
			e.Missed = append(e.Missed, Miss{i, seen})
		}
	})
	if err != nil {
		return nil, err
	}
	e.SeenShare, e.Classes = Wilson(e.Seen), e.Counts.PerClass()
	if domains := slices.Compact(slices.Sorted(slices.Values(l.Domains))); len(domains) > 1 {
		by := make([]result.Tally, len(l.DomainNames))
		if err := l.leaveOut(l.Domains, fit, func(i, seen int) { by[l.Domains[i]].Count(seen, l.Classes[i]) }); err != nil {
			return nil, err
		}
		for _, d := range domains {
			if by[d].Total > 0 { // else the others have nothing but its groups
				e.LeftOut = append(e.LeftOut, Domain{l.DomainNames[d], by[d], Wilson(by[d])})
				e.Unseen = e.Unseen.Add(by[d])
			}
		}
		if e.LeftOut != nil {
			w := Wilson(e.Unseen)
			e.UnseenShare = &w
		}
	}
	e.warn()
	return e, nil
}

// leaveOut fits on all images but those of each part in turn, and others of their groups, and
// tells what these are seen as. A part without others has nothing to be seen by.
func (l Labelled) leaveOut(part []int, fit Fit, tell func(i, seen int)) error {
	for _, p := range slices.Compact(slices.Sorted(slices.Values(part))) {
		var train, test []int
		with := make(map[int]bool)
		for i, own := range part {
			if own == p {
				if test = append(test, i); l.Groups != nil {
					with[l.Groups[i]] = true
				}
			}
		}
		for i, own := range part {
			if own != p && (l.Groups == nil || !with[l.Groups[i]]) {
				train = append(train, i)
			}
		}
		if len(train) == 0 {
			continue
		}
		see, err := fit(train)
		if err != nil {
			return err
		}
		for k, seen := range see(test) {
			tell(test[k], seen)
		}
	}
	return nil
}

// warn adds warnings about the estimate's limitations.
func (e *Estimate) warn() {
	for c, name := range e.Counts.Classes {
		all, seen := e.Counts.Of(c).Total, 0
		for _, row := range e.Counts.Counts {
			seen += row[c]
		}
		switch {
		case all == 0:
			e.Warnings = append(e.Warnings, fmt.Sprintf("no label is %s, so nothing can be seen as it", name))
		case all >= FewestOfClass && 4*seen < all:
			e.Warnings = append(e.Warnings, fmt.Sprintf("%s is hardly ever predicted: %d times, where %d labels are %s", name, seen, all, name))
		}
	}
	if len(e.LeftOut) < 2 {
		return
	}
	worst := slices.MinFunc(e.LeftOut, func(a, b Domain) int { return a.Tally.Compare(b.Tally) })
	best := slices.MaxFunc(e.LeftOut, func(a, b Domain) int { return a.Tally.Compare(b.Tally) })
	if worst.Accuracy.High < best.Accuracy.Low {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the domains differ: %s has %v, %s %v; a new site can be like the worse one, or worse", worst.Domain, worst.Accuracy, best.Domain, best.Accuracy))
	}
}

// Sentence summarises the estimate in one sentence.
func (e *Estimate) Sentence() string {
	if e.UnseenShare != nil {
		return fmt.Sprintf("on a site it has not seen: %v", *e.UnseenShare)
	}
	return fmt.Sprintf("on images like those labelled: %v", e.SeenShare)
}

// String reports the estimate in a few lines.
func (e *Estimate) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Estimated accuracy, from %d labels", e.Labels)
	if e.Groups > 0 {
		fmt.Fprintf(&b, " (%d groups)", e.Groups)
	}
	if e.By != "" {
		fmt.Fprintf(&b, ", by %s", e.By)
	}
	b.WriteString(" (95% intervals)\n")
	if e.UnseenShare != nil {
		fmt.Fprintf(&b, "  on a site it has not seen        %v   each domain left out in turn\n", *e.UnseenShare)
		for _, d := range e.LeftOut {
			fmt.Fprintf(&b, "    %-30s %v   %v right\n", d.Domain, d.Accuracy, d.Tally)
		}
	}
	fmt.Fprintf(&b, "  on images like those labelled    %v   cross-validated\n", e.SeenShare)
	for _, c := range e.Classes {
		if c.Accuracy != nil {
			fmt.Fprintf(&b, "    %-30s %v   %v right\n", c.Class, *c.Accuracy, c.Tally)
		} else {
			fmt.Fprintf(&b, "    %-30s too few to say   %v right\n", c.Class, c.Tally)
		}
	}
	if e.Chosen != "" {
		fmt.Fprintf(&b, "The labels were chosen by %s and are no random sample: the accuracy on all images can be higher or lower.\n", e.Chosen)
	}
	switch {
	case e.Groups == 0:
		b.WriteString("Images that are nearly the same, frames of a film say, make the second number too high.\n")
	case e.Groups < e.Labels:
		b.WriteString("No image was seen by what another of its group has taught; the intervals count images, and are too narrow where groups are large.\n")
	}
	if e.UnseenShare != nil {
		b.WriteString("The first interval is of these domains: it does not know how different the next one is.\n")
	}
	for _, w := range e.Warnings {
		fmt.Fprintf(&b, "Warning: %s.\n", w)
	}
	return b.String()
}
