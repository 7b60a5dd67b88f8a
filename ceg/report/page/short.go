package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
)

// short summarises a run for users in plain words: its purpose, its accuracy by site, and what
// to do next. A domain is called a site there.
type short struct {
	Does []string
	// Share is the headline, empty if unknown, Of its reference, and Besides are other numbers.
	Share, Of string
	Besides   []string
	Warnings  []string
	Weakest   string
	// Sites and Classes are measured on the trained model. LeftOut is not: each site is predicted
	// by networks trained without it. Estimated are classes by cross-validation.
	Sites, Classes     *result.Table
	LeftOut, Estimated *result.Table
	Wrong              []photo
	WrongOf            string
	Unsure             []photo
	NoImages           string
	Next               []step

	best audit.Interval
}

// photo is an image with its prediction.
type photo struct {
	ID, Is, Seen string
	Picture      template.URL
}

// step is something to do.
type step struct{ Why, Command string }

// Words are the command's, between which it may be broken.
func (s step) Words() []string { return strings.Split(s.Command, " ") }

// mostPhotos is how many images of a kind are shown.
const mostPhotos = 12

// row is how right a run is on a site or in a class.
type row struct {
	name, what string
	tally      result.Tally
}

// newShort summarises a finished run. k is its artifact, nil for older ones.
func newShort(out *result.Run, k *artifact.Artifact, o Options) (*short, error) {
	queries, _ := out.Queries() // which collected runs need not have
	s := &short{}
	r := out.Result
	classes := r.Classes
	var sites []string
	if k != nil {
		classes, sites = k.Classes, slices.DeleteFunc(slices.Clone(k.Domains), func(d string) bool { return d == r.Target })
	} else {
		for _, q := range queries {
			if !slices.Contains(sites, q.Domain) {
				sites = append(sites, q.Domain)
			}
		}
		slices.Sort(sites)
	}
	s.does(r, classes, sites)
	s.rate(out, k)
	s.where(out, k)
	s.hardly(queries, k)
	if err := s.photos(out, k, o); err != nil {
		return nil, err
	}
	s.next(out)
	return s, nil
}

// does describes the purpose of the run.
func (s *short) does(r *result.Result, classes, sites []string) {
	if len(classes) > 0 {
		s.Does = append(s.Does, fmt.Sprintf("It predicts which of %d classes an image shows: %s.", len(classes), some(classes, manyClasses)))
	}
	line := fmt.Sprintf("It was trained with labels of %d of %d images", r.Labels, r.Pool)
	if len(sites) > 0 {
		line += fmt.Sprintf(", from %s: %s", counted(len(sites), "site"), some(sites, manyClasses))
	}
	s.Does = append(s.Does, line+".")
	if note := r.LeftOutNote(); note != "" {
		s.Does = append(s.Does, note)
	}
	s.Does = append(s.Does, "A site is where images come from: a place, a camera, a style (a domain in research). Its folder names it.")
}

// some lists up to n names.
func some(names []string, n int) string {
	if len(names) > n {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
	}
	return strings.Join(names, ", ")
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

// about is an interval in a sentence.
func about(i audit.Interval) string { return fmt.Sprintf("%.0f to %.0f%%", 100*i.Low, 100*i.High) }

// rate states the run's accuracy by the best available estimate.
func (s *short) rate(out *result.Run, k *artifact.Artifact) {
	last := out.Result.Accuracy.LastEpoch
	say := func(i audit.Interval, of, besides string) {
		if s.Share == "" {
			s.Share, s.Of, s.best = fmt.Sprintf("%.0f%%", 100*i.Share), of, i
		} else {
			s.Besides = append(s.Besides, fmt.Sprintf("%.0f%% (95%% interval %s) %s.", 100*i.Share, about(i), besides))
		}
	}
	if t := last.Target; t.Total > 0 {
		i := audit.Wilson(t)
		say(i, fmt.Sprintf("correct on %s, a site held out of training: %d of %d images. Expect %s (95%% interval) on more images of that site.", out.Result.Target, t.Correct, t.Total, about(i)), "")
	}
	if k != nil && k.Estimate != nil && last.Target.Total == 0 {
		e := k.Estimate
		if share, of := e.OnNew(); share != "" {
			s.Share, s.Of = share, fmt.Sprintf("%s (%s). A new site can be better or worse than all of these.", of, by(e))
		}
		seen := fmt.Sprintf("%.0f%%", 100*e.Seen.Share())
		if s.Share == "" && last.SourceVal.Total == 0 {
			s.Share, s.Of = seen, fmt.Sprintf("correct on more images of these sites, as an estimate from the %d labels (%s).", e.Labels, by(e))
		} else {
			s.Besides = append(s.Besides, seen+" on more images of the training sites, by cross-validation. Near-duplicates, such as frames of one film, make it too high.")
		}
		s.Besides = append(s.Besides, e.NoInterval())
	}
	if t := last.SourceVal; t.Total > 0 {
		i := audit.Wilson(t)
		say(i, fmt.Sprintf("correct on %d validation images of the training sites (95%% interval %s). Expect less on a new site.", t.Total, about(i)),
			fmt.Sprintf("on %d validation images of the training sites", t.Total))
	}
	if s.Share == "" {
		s.Of = "Its accuracy is unknown: there are no labelled images to measure it with."
	}
}

// by names the classifier of an estimate, for older runs too.
func by(e *audit.Estimate) string {
	if e.By == "" {
		return "cross-validation"
	}
	return "by " + e.By
}

// where says on which sites and in which classes. Only what the trained model was measured on
// says where it is weakest.
func (s *short) where(out *result.Run, k *artifact.Artifact) {
	var sites, classes []row
	for _, a := range out.Records[len(out.Records)-1].Accuracy {
		what := "trained on"
		switch a.Split {
		case result.TestSplit:
			what = "held out"
		case result.HeldOutSplit:
			what = "trained on, its test images"
		}
		sites = append(sites, row{a.Domain, what, a.Tally})
	}
	var counts *audit.Counts
	if k != nil {
		counts = measured(out, k)
	}
	if k != nil && k.Estimate != nil {
		s.LeftOut = &result.Table{Columns: []result.Column{{Name: "site left out"}, {Name: "correct", Right: true}, {Name: "share", Right: true}}}
		for _, d := range k.Estimate.LeftOut {
			s.LeftOut.AddRow(d.Domain, fmt.Sprintf("%d of %d", d.Tally.Correct, d.Tally.Total), fmt.Sprintf("%.0f%%", 100*d.Tally.Share()))
		}
		if len(k.Estimate.LeftOut) == 0 {
			s.LeftOut = nil
		}
		if e := k.Estimate; counts == nil && e.Counts != nil {
			s.Estimated = &result.Table{Columns: []result.Column{{Name: "class, cross-validated"}, {Name: "mostly confused with"}, {Name: "correct", Right: true}}}
			for i, name := range e.Counts.Classes {
				if t := e.Counts.Of(i); t.Total > 0 {
					s.Estimated.AddRow(name, takenFor(e.Counts, i), fmt.Sprintf("%d of %d", t.Correct, t.Total))
				}
			}
		}
		for _, w := range k.Estimate.Warnings {
			if strings.Contains(w, "sites differ") {
				s.Warnings = append(s.Warnings, strings.ToUpper(w[:1])+w[1:]+".")
			}
		}
	}
	if counts != nil {
		for i, name := range counts.Classes {
			t := result.Tally{}
			for j, n := range counts.Counts[i] {
				t.Total += n
				if j == i {
					t.Correct = n
				}
			}
			classes = append(classes, row{name, takenFor(counts, i), t})
		}
	}
	s.Sites = s.table("site", "training", &sites, "The sites", audit.Wilson)
	s.Classes = s.table("class", "mostly confused with", &classes, "The classes", audit.Exact)
	var weakest []string
	for i, list := range [][]row{sites, classes} {
		if len(list) < 2 || list[0].tally.Compare(list[len(list)-1].tally) == 0 {
			continue
		}
		w := list[0]
		text := fmt.Sprintf("the site %s (%d of %d correct)", w.name, w.tally.Correct, w.tally.Total)
		if i == 1 {
			text = fmt.Sprintf("the class %s (%d of %d correct, mostly confused with %s)", w.name, w.tally.Correct, w.tally.Total, w.what)
		}
		weakest = append(weakest, text)
	}
	if weakest != nil {
		s.Weakest = "It is weakest on " + strings.Join(weakest, " and on ") + "."
	}
}

// measured counts what was seen on the target, or else on the validation images.
func measured(out *result.Run, k *artifact.Artifact) *audit.Counts {
	target := slices.Index(k.Domains, out.Result.Target)
	onTarget := slices.ContainsFunc(k.Measured, func(e datasets.Example) bool { return e.Domain == target })
	c := audit.NewCounts(k.Classes)
	for i, e := range k.Measured {
		if !onTarget || e.Domain == target {
			c.Add(k.Classes[k.Class[i]], evaluate.ArgMax(k.Logits[i*len(k.Classes):(i+1)*len(k.Classes)]))
		}
	}
	if len(k.Measured) == 0 {
		return nil
	}
	return c
}

// takenFor names the class that a class is mistaken for most often.
func takenFor(c *audit.Counts, class int) string {
	best := -1
	for j, n := range c.Counts[class] {
		if j != class && n > 0 && (best < 0 || n > c.Counts[class][best]) {
			best = j
		}
	}
	if best < 0 {
		return "nothing else"
	}
	return c.Classes[best]
}

// table lists rows, the worst first, and warns if they differ by more than chance.
func (s *short) table(what, more string, list *[]row, all string, interval func(result.Tally) audit.Interval) *result.Table {
	rows := slices.DeleteFunc(*list, func(r row) bool { return r.tally.Total == 0 })
	*list = rows
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.tally.Compare(b.tally) })
	t := &result.Table{Columns: []result.Column{{Name: what}, {Name: more}, {Name: "correct", Right: true}, {Name: "expect", Right: true}}}
	for _, r := range rows {
		expect := "too few"
		if r.tally.Total >= audit.FewestOfClass {
			expect = about(interval(r.tally))
		}
		t.AddRow(r.name, r.what, fmt.Sprintf("%d of %d", r.tally.Correct, r.tally.Total), expect)
	}
	worst, best := rows[0], rows[len(rows)-1]
	if w, b := interval(worst.tally), interval(best.tally); w.High < b.Low {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s differ: the accuracy is %s on %s and %s on %s.", all, about(w), worst.name, about(b), best.name))
	}
	return t
}

// hardly warns of classes that are hardly ever predicted, held against their share of the
// labels.
func (s *short) hardly(queries []result.Query, k *artifact.Artifact) {
	if k == nil || len(queries) == 0 {
		return
	}
	labels := map[string]int{}
	for _, q := range queries {
		labels[q.Class]++
	}
	seen, all := make([]int, len(k.Classes)), 0
	for _, site := range k.Seen {
		for c, n := range site {
			seen[c], all = seen[c]+n, all+n
		}
	}
	for c, name := range k.Classes {
		switch n := labels[name]; {
		case n == 0:
			s.Warnings = append(s.Warnings, fmt.Sprintf("There are no labels of %s, so it is never predicted.", name))
		case all > 0 && 4*seen[c]*len(queries) < n*all:
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s is rarely predicted: for %d of %d unlabelled images, though %d of %d labels are %s.", name, seen[c], all, n, len(queries), name))
		}
	}
}

// photos shows images that it gets wrong, and those that it is least sure of.
func (s *short) photos(out *result.Run, k *artifact.Artifact, o Options) error {
	if k == nil {
		return nil
	}
	target := slices.Index(k.Domains, out.Result.Target)
	type wrong struct {
		photo
		onTarget bool
		sure     float64
	}
	var list []wrong
	for i, e := range k.Measured {
		logits := k.Logits[i*len(k.Classes) : (i+1)*len(k.Classes)]
		if c := evaluate.ArgMax(logits); c != k.Class[i] {
			list = append(list, wrong{photo{ID: e.ID, Is: k.Classes[k.Class[i]], Seen: k.Classes[c]}, e.Domain == target, float64(logits[c] - logits[k.Class[i]])})
		}
	}
	slices.SortStableFunc(list, func(a, b wrong) int {
		if a.onTarget != b.onTarget {
			return map[bool]int{true: -1, false: 1}[a.onTarget]
		}
		return cmp.Compare(b.sure, a.sure)
	})
	s.WrongOf = "The most confident errors among the images of known class."
	for _, w := range list[:min(len(list), mostPhotos)] {
		s.Wrong = append(s.Wrong, w.photo)
	}
	if len(k.Measured) == 0 {
		s.WrongOf = "Labelled images that a classifier of the other labels assigns to another class: hard images, or labels to check."
		for _, m := range k.Missed[:min(len(k.Missed), mostPhotos)] {
			s.Wrong = append(s.Wrong, photo{ID: m.ID, Is: k.Classes[m.Class], Seen: k.Classes[m.Seen]})
		}
	}
	for _, u := range k.Unsure[:min(len(k.Unsure), mostPhotos)] {
		s.Unsure = append(s.Unsure, photo{ID: u.ID, Seen: fmt.Sprintf("%s, confidence %.0f%%", k.Classes[u.Class], 100*u.Probability)})
	}
	if len(s.Wrong)+len(s.Unsure) == 0 {
		return nil
	}
	data, err := report.Dataset(out, o.Figures)
	if err != nil {
		s.NoImages = err.Error()
		return nil
	}
	for _, list := range [][]photo{s.Wrong, s.Unsure} {
		for i := range list {
			at, ok := data.Index(list[i].ID)
			if !ok {
				s.NoImages = fmt.Sprintf("%s is not in the data set", list[i].ID)
				continue
			}
			m, err := data.Image(at)
			if err != nil {
				s.NoImages = err.Error()
				continue
			}
			if list[i].Picture, err = thumbnail(m.ToImage()); err != nil {
				return err
			}
		}
	}
	return nil
}

// enough is the accuracy, at the low end of its interval, from which on use comes before
// more labels.
const enough = 0.8

// next lists what to do, most useful first.
func (s *short) next(out *result.Run) {
	r := out.Result
	more := step{"Label more images. The new run keeps these labels and queries others:",
		shell.Line("ledg", "extend", out.Path, "--budget", fmt.Sprint(min(r.Pool, max(r.Labels+r.Labels/2, r.Labels+10))))}
	if out.Config.Exploration.Oracle != config.People {
		more.Why = "Use more labels. The new run keeps these labels and queries others:"
	}
	use := step{"Predict the images of a folder, with a confidence for each:", shell.Line("ledg", "predict", out.Path, "--images", "FOLDER", "--out", "predictions.csv")}
	other := step{"Export it to ONNX for other programs, with a model card:", shell.Line("ledg", "export", out.Path, "--out", "model.onnx")}
	measure := step{"Measure its accuracy on a new site. Annotators label random images, which are never trained on:",
		shell.Line("ledg", "site", out.Path, "--images", "FOLDER", "--ask")}
	switch measured := r.Accuracy.Measured(); {
	case measured && s.best.Low >= enough:
		s.Next = []step{use, other}
	case measured:
		s.Next = []step{more, use, other}
	case s.Share == "":
		s.Next = []step{measure, more, use}
	default:
		s.Next = []step{more, measure, use, other}
	}
	if r.Labels == r.Pool { // nothing is left to label
		s.Next = slices.DeleteFunc(s.Next, func(st step) bool { return st == more })
	}
	if info, _ := datasets.Lookup(r.Dataset); !info.Yours {
		s.Next = slices.DeleteFunc(s.Next, func(st step) bool { return st == measure })
	}
}
