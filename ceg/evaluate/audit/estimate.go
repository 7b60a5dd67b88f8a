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
// predicted by a classifier fitted on others. It has no intervals: the labelled images may be
// selected, the folds share images, and a few sites say little about the next one. Binomial
// intervals on it covered too rarely (notebooks/results/new-site.md).
type Estimate struct {
	// Labels is the number of labelled images.
	Labels int `json:"labels"`
	// Groups is the number of their groups, or 0.
	Groups int `json:"groups,omitempty"`
	// Seen is the accuracy on the source distribution, by [Folds] folds stratified by class and
	// domain. Classes has the counts of each class, Counts the confusion matrix.
	Seen    result.Tally `json:"seen"`
	Classes []Class      `json:"classes"`
	Counts  *Counts      `json:"confusion"`
	// LeftOut is the leave-one-domain-out accuracy of each domain, nil with fewer than two;
	// Unseen is their total.
	LeftOut []Domain     `json:"left_out,omitempty"`
	Unseen  result.Tally `json:"unseen"`
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
	Domain string       `json:"domain"`
	Tally  result.Tally `json:"right"`
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
	for _, c := range e.Counts.PerClass() {
		e.Classes = append(e.Classes, Class{Class: c.Class, Tally: c.Tally})
	}
	if domains := slices.Compact(slices.Sorted(slices.Values(l.Domains))); len(domains) > 1 {
		by := make([]result.Tally, len(l.DomainNames))
		if err := l.leaveOut(l.Domains, fit, func(i, seen int) { by[l.Domains[i]].Count(seen, l.Classes[i]) }); err != nil {
			return nil, err
		}
		for _, d := range domains {
			if by[d].Total > 0 { // else the others have nothing but its groups
				e.LeftOut = append(e.LeftOut, Domain{l.DomainNames[d], by[d]})
				e.Unseen = e.Unseen.Add(by[d])
			}
		}
	}
	e.warn()
	return e, nil
}

// leaveOut cross-validates: for each fold it fits on all images outside of the fold and of the
// fold's groups, and predicts the fold. A part without others has nothing to be seen by.
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
	if Wilson(worst.Tally).High < Wilson(best.Tally).Low {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the sites differ by more than chance: %v on %s, %v on %s; a new site can be like the worse one, or worse", worst.Tally, worst.Domain, best.Tally, best.Domain))
	}
}

// FewestOfSite is the smallest number of labels of a left-out domain for which its accuracy is in
// [Estimate.Range].
const FewestOfSite = 10

// Range returns the lowest and the highest accuracy over the left-out domains with at least
// [FewestOfSite] labels, and their number; ok is false with fewer than two.
func (e *Estimate) Range() (low, high float64, sites int, ok bool) {
	low, high = 1, 0
	for _, d := range e.LeftOut {
		if d.Tally.Total >= FewestOfSite {
			low, high, sites = min(low, d.Tally.Share()), max(high, d.Tally.Share()), sites+1
		}
	}
	return low, high, sites, sites > 1
}

// OnNew says how right a new site may be, as its share and the rest of the sentence: "60%" and
// "correct (59 of 98), each of the 14 sites left out in turn; 47 to 72% on the 5 sites with at least
// 10 labels". Both are empty with fewer than two sites.
func (e *Estimate) OnNew() (share, of string) {
	if len(e.LeftOut) < 2 {
		return "", ""
	}
	of = fmt.Sprintf("correct (%d of %d), each of the %d sites left out in turn", e.Unseen.Correct, e.Unseen.Total, len(e.LeftOut))
	if low, high, sites, ok := e.Range(); ok {
		all, which := fmt.Sprintf("%.0f%%", 100*high), ""
		if fmt.Sprintf("%.0f%%", 100*low) != all {
			all = fmt.Sprintf("%.0f to %s", 100*low, all)
		}
		if sites < len(e.LeftOut) {
			which = fmt.Sprintf(" with at least %d labels", FewestOfSite)
		}
		of += fmt.Sprintf("; %s on the %d sites%s", all, sites, which)
	}
	return fmt.Sprintf("%.0f%%", 100*e.Unseen.Share()), of
}

// NewSite is [Estimate.OnNew] in one text.
func (e *Estimate) NewSite() string {
	share, of := e.OnNew()
	return strings.TrimSpace(share + " " + of)
}

// NoInterval says why the estimate has no interval.
func (e *Estimate) NoInterval() string {
	text := "These numbers have no interval"
	if e.Chosen != "" {
		text += fmt.Sprintf(": the labels were chosen by %s and are no random sample, so the accuracy on all images can be higher or lower", e.Chosen)
	} else {
		text += ": the same labels train and test in turn"
	}
	if low, high, sites, ok := e.Range(); ok {
		text += fmt.Sprintf(". %d sites do not show how different the next one is", sites)
		if low >= 0.005 || high < 0.995 { // else nothing can be outside
			text += ": about half of simulated new sites were outside such a range"
		}
	}
	return text + "."
}

// Sentence summarises the estimate in one sentence.
func (e *Estimate) Sentence() string {
	if on := e.NewSite(); on != "" {
		return "on a new site: " + on
	}
	return fmt.Sprintf("on more images of these sites: %.0f%%", 100*e.Seen.Share())
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
	b.WriteString("\n")
	row := func(name, is, of string) { fmt.Fprintf(&b, "%-34s %-5s %s\n", name, is, of) }
	share := func(t result.Tally) string { return fmt.Sprintf("%.0f%%", 100*t.Share()) }
	if on := e.NewSite(); on != "" {
		fmt.Fprintf(&b, "  on a new site: %s\n", on)
		for _, d := range e.LeftOut {
			row("    "+d.Domain, share(d.Tally), fmt.Sprintf("%v correct", d.Tally))
		}
	}
	row("  on more images of these sites", share(e.Seen), fmt.Sprintf("%v correct, %d-fold cross-validation", e.Seen, Folds))
	for _, c := range e.Classes {
		row("    "+c.Class, share(c.Tally), fmt.Sprintf("%v correct", c.Tally))
	}
	fmt.Fprintln(&b, e.NoInterval())
	switch {
	case e.Groups == 0:
		b.WriteString("Near-duplicates, such as frames of one film, make the second number too high.\n")
	case e.Groups < e.Labels:
		b.WriteString("No group is both trained and tested on.\n")
	}
	for _, w := range e.Warnings {
		fmt.Fprintf(&b, "Warning: %s.\n", w)
	}
	return b.String()
}
