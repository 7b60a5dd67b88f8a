package site

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Report holds the results on a site.
type Report struct {
	Site     string             `json:"site"`
	Run      string             `json:"run"`
	Sentence string             `json:"sentence"`
	Visits   []*VisitReport     `json:"visits"`
	Classes  []string           `json:"classes"`
	Warnings []string           `json:"warnings"`
	Sets     []SetsReport       `json:"sets"`
	Abstain  []audit.Abstention `json:"abstain"`
	// Calibration describes the head in use, nil with too few audited images. Calibrated is true if
	// its probabilities are calibrated, by the audit or by the run's own calibration.
	Calibration *Calibration `json:"calibration,omitempty"`
	Calibrated  bool         `json:"calibrated"`
	// Months are by camera and month; nil unless requested.
	Months []*Month `json:"months,omitempty"`
}

// VisitReport holds the results on the images of one visit. Accuracies are on images outside the
// adaptation set.
type VisitReport struct {
	At       time.Time         `json:"at"`
	Images   int               `json:"images"`
	Estimate *AccuracyEstimate `json:"estimate"`
	// A and Audit count queried images, ALabelled and Audited the labelled ones among them, Bad
	// those marked as bad. The key a_answered is the format of older reports.
	A         int `json:"a"`
	ALabelled int `json:"a_answered"`
	Audit     int `json:"audit"`
	Audited   int `json:"audited"`
	Bad       int `json:"bad"`
	// Gone counts images that were removed or changed since arrival; their results and labels
	// stay, and they are not queried.
	Gone int `json:"gone,omitempty"`
	// AdaptedWith is the number of images, of all visits, that the head was adapted with.
	AdaptedWith int `json:"adapted_with"`
	// Before is the accuracy of the run, After the accuracy of the adapted head, Gain the
	// difference; nil if unknown. Pairs holds the paired counts, Half the number of labels that
	// would halve the interval.
	Before *audit.Interval `json:"before,omitempty"`
	After  *audit.Interval `json:"after,omitempty"`
	Gain   *audit.Interval `json:"gain,omitempty"`
	Pairs  audit.Paired    `json:"pairs"`
	// Unadapted is true if the run's own head is in use; see Record.Unadapted.
	Unadapted bool `json:"unadapted,omitempty"`
	Half      int  `json:"labels_for_half"`
	// Classes is the accuracy on each class, Counts the confusion matrix, and Errors the errors,
	// most confident first; all of the head in use.
	Classes []audit.Class `json:"classes"`
	Counts  *audit.Counts `json:"confusion"`
	Errors  []Error       `json:"errors"`
	// New lists classes unknown to the run, with their numbers of labels.
	New []Found `json:"new_classes"`
	// Names is the audit of class names alone; nil for features without names.
	Names *NamesReport `json:"names,omitempty"`
}

// Error is a misclassified audit image.
type Error struct {
	ID          string  `json:"id"`
	Class       string  `json:"class"`
	Seen        string  `json:"seen"`
	Probability float64 `json:"probability"`
}

// Found is a class unknown to the run.
type Found struct {
	Class  string `json:"class"`
	Images int    `json:"images"`
}

// SetsReport describes prediction sets of one nominal coverage.
type SetsReport struct {
	Coverage float64 `json:"coverage"`
	// Sets is nil with too few images; Need is then the required number, or 0 if too many images
	// are of classes unknown to the run, which no set contains.
	Sets *audit.Sets `json:"sets,omitempty"`
	Need int         `json:"need,omitempty"`
	// Size is the mean number of classes in the sets of the site's images.
	Size float64 `json:"size,omitempty"`
}

// Label is the human label of an image: its class, or that it is bad; empty if unlabelled.
type Label struct {
	Class string
	Bad   bool
}

// Measure computes the report of a visit: part holds its images, adapted is the adapted head or
// nil, and temperature the temperature of the head in use.
func (v *Visit) Measure(classes []string, part Part, adapted *head.Linear, temperature float64, label func(id string) Label) *VisitReport {
	r := &VisitReport{At: v.At, Images: len(v.Images), Estimate: v.Estimate, A: len(v.A), Audit: len(v.Audit), Counts: audit.NewCounts(classes), Errors: []Error{}, New: []Found{}}
	for _, id := range v.A {
		switch a := label(id); {
		case a.Bad:
			r.Bad++
		case a.Class != "":
			r.ALabelled++
		}
	}
	for _, id := range v.Audit {
		if label(id).Bad {
			r.Bad++
		}
	}
	audited, named := v.labelled(part, label)
	if r.Audited = len(named); r.Audited == 0 {
		return r
	}
	logits := LogitsOf(audited, adapted)
	before, now := Best(audited.Logits), Best(logits)
	for k, class := range named {
		own := slices.Index(classes, class)
		r.Pairs.Add(before[k] == own, now[k] == own)
		r.Counts.Add(class, now[k])
		if now[k] != own {
			p := calibration.Softmax(Row(logits, k), temperature)
			r.Errors = append(r.Errors, Error{audited.IDs[k], class, classes[now[k]], p[now[k]]})
		}
		if own < 0 {
			f := slices.IndexFunc(r.New, func(f Found) bool { return f.Class == class })
			if f < 0 {
				r.New, f = append(r.New, Found{Class: class}), len(r.New)
			}
			r.New[f].Images++
		}
	}
	slices.SortStableFunc(r.Errors, func(a, b Error) int {
		switch {
		case a.Probability > b.Probability:
			return -1
		case a.Probability < b.Probability:
			return 1
		}
		return 0
	})
	w := audit.Wilson(r.Pairs.Before())
	r.Before, r.Classes, r.Half = &w, r.Counts.PerClass(), audit.ForHalf(r.Pairs.After())
	if adapted != nil {
		w, g := audit.Wilson(r.Pairs.After()), audit.Gain(r.Pairs)
		r.After, r.Gain = &w, &g
	}
	return r
}

// labelled returns the labelled audit images, with their class names.
func (v *Visit) labelled(part Part, label func(id string) Label) (Part, []string) {
	at := make(map[string]int, part.Len())
	for i, id := range part.IDs {
		at[id] = i
	}
	var rows []int
	var named []string
	for _, id := range v.Audit {
		if a := label(id); a.Class != "" && !a.Bad {
			rows, named = append(rows, at[id]), append(named, a.Class)
		}
	}
	return part.Take(rows), named
}

// Audited holds audit results for thresholds: for each image the score of its true class, the
// largest probability, and whether the prediction is correct. Scores are at the temperature
// without the audit, on which a temperature must not depend for the sets to cover what they promise.
type Audited struct {
	Scores, Surest []float64
	Right          []bool
}

// Audited returns the audit results of a visit; see [Visit.Measure].
func (v *Visit) Audited(classes []string, part Part, adapted *head.Linear, base, temperature float64, label func(id string) Label) (a Audited) {
	audited, named := v.labelled(part, label)
	logits := LogitsOf(audited, adapted)
	best := Best(logits)
	own := make([]int, len(named))
	for k, name := range named {
		own[k] = slices.Index(classes, name)
		a.Surest = append(a.Surest, calibration.Softmax(Row(logits, k), temperature)[best[k]])
		a.Right = append(a.Right, best[k] == own[k])
	}
	a.Scores = Scores(logits, own, base)
	return a
}

// Now returns the accuracy of the head in use; nil without an audit.
func (r *VisitReport) Now() *audit.Interval {
	if r.After != nil && !r.Unadapted {
		return r.After
	}
	return r.Before
}

// Unadapt returns to the run's own head, with which the visit was measured as own. Before, After
// and Gain stay.
func (r *VisitReport) Unadapt(own *VisitReport) {
	r.Unadapted, r.Classes, r.Counts, r.Errors, r.Half = true, own.Classes, own.Counts, own.Errors, own.Half
}

// Sentence summarises the visit in one sentence.
func (r *VisitReport) Sentence() string {
	switch {
	case r.After != nil && r.Unadapted:
		return fmt.Sprintf("Of 100 images of this site about %.0f are predicted correctly (%.0f to %.0f), measured on %d drawn at random. The run is used without adaptation, which would change this by %+.0f (%+.0f to %+.0f).",
			100*r.Before.Share, 100*r.Before.Low, 100*r.Before.High, r.Audited, 100*r.Gain.Share, 100*r.Gain.Low, 100*r.Gain.High)
	case r.After != nil:
		return fmt.Sprintf("Of 100 images of this site about %.0f were predicted correctly (%.0f to %.0f), and after adapting with %d labels about %.0f (%.0f to %.0f): %+.0f (%+.0f to %+.0f), measured on %d others drawn at random.",
			100*r.Before.Share, 100*r.Before.Low, 100*r.Before.High, r.AdaptedWith, 100*r.After.Share, 100*r.After.Low, 100*r.After.High,
			100*r.Gain.Share, 100*r.Gain.Low, 100*r.Gain.High, r.Audited)
	case r.Before != nil:
		return fmt.Sprintf("Of 100 images of this site about %.0f are predicted correctly (%.0f to %.0f), measured on %d drawn at random.", 100*r.Before.Share, 100*r.Before.Low, 100*r.Before.High, r.Audited)
	case r.Estimate != nil && r.Estimate.Accuracy != nil:
		return fmt.Sprintf("No labels yet: the label-free estimate is that about %.0f of 100 images are predicted correctly. On PACS such estimates erred by 11 points on average, and by up to 34.", 100**r.Estimate.Accuracy)
	}
	return "No labels yet, and the two label-free estimates contradict each other: draw an audit."
}

// drop states that accuracy is lower than on the previous visit.
func drop(before, now *VisitReport) string {
	a, b := before.Now(), now.Now()
	switch {
	case a != nil && b != nil && b.High < a.Low:
		return fmt.Sprintf("the accuracy has dropped: %v on the images of %s, %v on the images of %s", *a, day(before.At), *b, day(now.At))
	case a != nil && b != nil && b.Share < a.Share:
		return fmt.Sprintf("the accuracy is lower than before (%v, now %v), but the intervals overlap", *a, *b)
	case b == nil && before.Estimate != nil && now.Estimate != nil && now.Estimate.Transport < before.Estimate.Transport-0.1:
		return fmt.Sprintf("the label-free estimate has dropped by %.0f points since %s: draw an audit of the new images", 100*(before.Estimate.Transport-now.Estimate.Transport), day(before.At))
	}
	return ""
}

func day(t time.Time) string { return t.Format("2006-01-02") }

// Finish fills in the fields that follow from the visits.
func (r *Report) Finish() {
	for k, v := range r.Visits {
		if k > 0 {
			if s := drop(r.Visits[k-1], v); s != "" {
				r.Warnings = append(r.Warnings, s)
			}
		}
		if v.ALabelled+v.Audited > 0 {
			if open := v.A + v.Audit - v.ALabelled - v.Audited - v.Bad; open > 0 {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d queried labels are missing: the numbers use the others, and are unbiased if people label in the order of the queries", open, v.A+v.Audit))
			}
		}
		if v.Gone > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d of the %d images that came %s were removed from the folder or changed: their results and labels stay, and they are not queried", v.Gone, v.Images, day(v.At)))
		}
		if v.Gain != nil && v.Gain.Share < 0 && !v.Unadapted {
			r.Warnings = append(r.Warnings, fmt.Sprintf("adapting has lost %.0f points (%+.0f to %+.0f): --unadapted, with the same command, returns to the run's own head until more images are labelled to adapt with", -100*v.Gain.Share, 100*v.Gain.Low, 100*v.Gain.High))
		}
		for _, f := range v.New {
			r.Warnings = append(r.Warnings, fmt.Sprintf("audited images of the class %s, which the run does not know: %d; they count as wrong", f.Class, f.Images))
		}
		if v.Estimate != nil && len(v.Estimate.Rare) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("hardly ever predicted here: %s", strings.Join(v.Estimate.Rare, ", ")))
		}
	}
	for k, v := range slices.Backward(r.Visits) {
		if r.Sentence == "" && (v.Before != nil || k == 0) {
			r.Sentence = v.Sentence()
		}
	}
	if last := r.Visits[len(r.Visits)-1]; len(r.Visits) > 1 && last.Before == nil && r.Sentence != "" {
		r.Sentence = fmt.Sprintf("%s None of the %d images that came %s is labelled yet.", r.Sentence, last.Images, day(last.At))
	}
}

// Write writes the report as JSON into a folder.
func (r *Report) Write(dir string) error { return writeJSON(filepath.Join(dir, ReportFile), r) }

// ReadReport reads the report of a site.
func ReadReport(dir string) (*Report, error) {
	path := filepath.Join(dir, ReportFile)
	data, err := regular.Read(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// String formats the report in a few lines.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Sentence)
	for _, v := range r.Visits {
		fmt.Fprintf(&b, "\n%s: %d images that came %s\n", r.Site, v.Images, day(v.At))
		if v.Estimate != nil {
			b.WriteString(v.Estimate.String())
		}
		if v.Before == nil {
			continue
		}
		fmt.Fprintf(&b, "audit of %d images drawn at random outside the adaptation set, 95%% intervals:\n", v.Audited)
		fmt.Fprintf(&b, "  before adapting  %v   %v right\n", *v.Before, v.Pairs.Before())
		if v.After != nil {
			fmt.Fprintf(&b, "  after            %v   %v right; adapted with %d images\n", *v.After, v.Pairs.After(), v.AdaptedWith)
			fmt.Fprintf(&b, "  gain             %+.0f points, %+.0f to %+.0f\n", 100*v.Gain.Share, 100*v.Gain.Low, 100*v.Gain.High)
		}
		if v.Names != nil {
			fmt.Fprintf(&b, "  %v\n", v.Names)
		}
		if outside := v.Images - v.A; v.Half <= outside {
			fmt.Fprintf(&b, "  to halve the interval, label %d images in all\n", v.Half)
		} else {
			fmt.Fprintf(&b, "  to halve the interval, label %d images in all, more than the %d images outside the adaptation set\n", v.Half, outside)
		}
		for _, c := range v.Classes {
			if c.Accuracy != nil {
				fmt.Fprintf(&b, "  %-16s %v   %v right\n", c.Class, *c.Accuracy, c.Tally)
			} else {
				fmt.Fprintf(&b, "  %-16s too few labels   %v right\n", c.Class, c.Tally)
			}
		}
	}
	if len(r.Months) > 0 {
		fmt.Fprintf(&b, "\n%v", r.MonthsTable())
	}
	for _, line := range r.Thresholds() {
		fmt.Fprintf(&b, "%s\n", line)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "Warning: %s.\n", w)
	}
	return b.String()
}

// CalibrationLine says in a line whether probabilities are calibrated.
func (r *Report) CalibrationLine() string {
	switch {
	case r.Calibration != nil:
		return r.Calibration.String()
	case r.Calibrated:
		return fmt.Sprintf("probabilities are at the run's temperature, optimistic here; an audit of %d images of known classes calibrates them", LeastCalibrated)
	}
	return fmt.Sprintf("probabilities are not calibrated, and mostly too high; an audit of %d images of known classes calibrates them", LeastCalibrated)
}

// Thresholds describes the calibration, the prediction sets and the abstentions, in a line each.
func (r *Report) Thresholds() (lines []string) {
	lines = append(lines, r.CalibrationLine())
	for _, s := range r.Sets {
		switch {
		case s.Sets == nil && s.Need == 0:
			lines = append(lines, fmt.Sprintf("prediction sets for %.4g%% coverage: none, as too many images have classes that the run does not know", 100*s.Coverage))
		case s.Sets == nil:
			lines = append(lines, fmt.Sprintf("prediction sets for %.4g%% coverage: audit at least %d images", 100*s.Coverage, s.Need))
		default:
			lines = append(lines, fmt.Sprintf("%v; mean size %.1f classes", *s.Sets, s.Size))
		}
	}
	for _, a := range r.Abstain {
		lines = append(lines, fmt.Sprintf("without the least confident %.0f%% (confidence below %.2f): %.0f%% right (95%% interval %.0f to %.0f, n = %d)",
			100*a.Share, a.Threshold, 100*a.Accuracy.Share, 100*a.Accuracy.Low, 100*a.Accuracy.High, a.Images))
	}
	return lines
}

// String formats the estimate in a few lines.
func (g *AccuracyEstimate) String() string {
	var b strings.Builder
	if g.Accuracy != nil {
		fmt.Fprintf(&b, "label-free estimate: %.0f%% right", 100**g.Accuracy)
	} else {
		fmt.Fprintf(&b, "no label-free estimate: the two methods differ by %.0f points", 100*math.Abs(*g.Agreement-g.Transport))
	}
	fmt.Fprintf(&b, " (optimal transport %.0f%%", 100*g.Transport)
	if g.Agreement != nil {
		fmt.Fprintf(&b, ", agreement of two halves %.0f%%", 100**g.Agreement)
	}
	b.WriteString(")\n  such estimates erred by 11 points on average on PACS, and by up to 34; there is no interval\n")
	if g.Source.Images > 0 {
		fmt.Fprintf(&b, "  accuracy on the sites of the run is %.0f%%, which says little about this site\n", 100*g.Source.Accuracy)
	}
	for k, n := range g.Near {
		if k == 0 {
			fmt.Fprintf(&b, "  most like %s: %.0f%% of the images are nearest to it\n", n.Domain, 100*n.Share)
		}
	}
	if g.Unflagged {
		fmt.Fprintf(&b, "  no looks_new: it needs %d photos of the run's sites to compare with\n", audit.FewestForNovelty)
		return b.String()
	}
	fmt.Fprintf(&b, "  %.1f%% look like nothing in the training images; expect %.0f%% false alarms\n", 100*g.Unfamiliar, 100*audit.FalseAlarms)
	return b.String()
}
