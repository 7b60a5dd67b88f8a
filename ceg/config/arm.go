package config

import (
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
)

// Arm is what one row of a comparison stands for: label selection, training and schedule.
// Its names are for people; configs and records keep their method's name.
type Arm struct {
	// Initial selects the labels before training, Strategy those of the query rounds. Both
	// are names of strategies; Strategy is empty without query rounds.
	Initial, Strategy string
	Objective         string
	Schedule          Timing
	Preset            Preset
}

// OwnSchedule is the schedule of an arm whose query epochs differ from its timing's.
const OwnSchedule Timing = "own"

// partName is the display name and the abbreviation of one part of an arm.
type partName struct{ key, name, short string }

var selectionNames = []partName{
	{"ceg", "CEG selection", "CEG"},
	{"ceg-batch", "CEG batch selection", "CEGb"},
	{"ceg-balanced", "CEG balanced selection", "CEGd"},
	{"uniform", "Random", "Rand"},
	{"entropy", "Entropy", "Entr"},
	{"bvsb", "BvSB", "BvSB"},
	{"confidence", "Confidence", "Conf"},
	{"coreset", "CoreSet", "CorS"},
	{"badge", "BADGE", "BADGE"},
	{"kmeans", "k-means", "kM"},
	{"typiclust", "TypiClust", "Typi"},
	{"probcover", "ProbCover", "ProbC"},
	{"maxherding", "MaxHerding", "MaxH"},
	{"uherding", "UHerding", "UH"},
	{"uherding-s1", "UHerding (width 1)", "UH1"},
	{"bait", "BAIT", "BAIT"},
	{"bait-equal", "BAIT (equal weights)", "BAITe"},
	{"dropquery", "DropQuery", "DropQ"},
	{"tcm", "TCM", "TCM"},
}

var trainingNames = []partName{
	{CEG, "CEG loss", "CEG"},
	{ERM, "cross-entropy", "CE"},
	{FixMatch, "FixMatch", "FM"},
	{"meanteacher", "MeanTeacher", "MT"},
	{"mixmatch", "MixMatch", "MM"},
	{"stylematch", "StyleMatch", "SM"},
	{"stylematch-amplitude", "StyleMatch (amplitude)", "SMa"},
	{"stylematch-rgb", "StyleMatch (RGB)", "SMr"},
	{"jigen", "JiGen", "JiGen"},
	{"crossgrad", "CrossGrad", "XGrad"},
	{"ddaig", "DDAIG", "DDAIG"},
	{"dael", "DAEL", "DAEL"},
	{"rsc", "RSC", "RSC"},
	{RSCDomainBed, "RSC (DomainBed)", "RSCd"},
	{"fact", "FACT", "FACT"},
	{"logistic", "logistic regression", "LR"},
	{"propagation", "propagated labels + logistic regression", "LP"},
	{"gda", "GDA", "GDA"},
}

// scheduleNames are those of the timings; the name of Once stands after a comma.
var scheduleNames = []partName{
	{string(Once), "upfront", "up"},
	{string(Published), "published schedule", "pub"},
	{string(Early), "early schedule", "early"},
	{string(OwnSchedule), "own schedule", "own"},
}

// nameOf returns the entry of a key; a key without one is its own name.
func nameOf(list []partName, key string) partName {
	if i := slices.IndexFunc(list, func(p partName) bool { return p.key == key }); i >= 0 {
		return list[i]
	}
	return partName{key, key, key}
}

// Arm returns the config's arm. Without query rounds the query strategy selects nothing, so
// that the arm has the initial selection alone.
func (c Config) Arm() Arm {
	random := active.Uniform{}.Name()
	a := Arm{Initial: c.Exploration.Initial, Objective: c.Generalization.Objective, Schedule: c.Schedule.Timing, Preset: c.Preset}
	if a.Initial == "" {
		a.Initial = random
	}
	if len(c.Schedule.QueryAfter) == 0 {
		a.Schedule = Once
		return a
	}
	a.Strategy = c.Exploration.Strategy
	d := &draft{Config: c}
	if own, _ := d.queryAfter().([]int); !slices.Equal(own, c.Schedule.QueryAfter) || len(c.Schedule.QueryShares) > 0 || c.Exploration.InitialShare != d.initialShare() {
		a.Schedule = OwnSchedule
	}
	return a
}

// selection returns the names of what selects the labels. A random draw before the query
// rounds is every strategy's usual beginning and is left out.
func (a Arm) selection() (name, short string) {
	initial := nameOf(selectionNames, a.Initial)
	if a.Strategy == "" {
		return initial.name, initial.short
	}
	s := nameOf(selectionNames, a.Strategy)
	switch a.Initial {
	case (active.Uniform{}).Name():
		return s.name, s.short
	case a.Strategy:
		return s.name + " from the first label", s.short + ">" + s.short
	}
	return initial.name + " then " + s.name, initial.short + ">" + s.short
}

// published reports whether the arm is the paper's method but for the schedule: its
// selection, from a random start, and its loss.
func (a Arm) published() bool {
	return a.Strategy == CEG && a.Objective == CEG && a.Initial == (active.Uniform{}).Name()
}

// Name returns the arm's display name, such as "Random + cross-entropy, upfront".
func (a Arm) Name() string {
	name, _ := a.selection()
	if name += " + " + nameOf(trainingNames, a.Objective).name; a.published() {
		name = "CEG"
	}
	schedule := nameOf(scheduleNames, string(a.Schedule)).name
	var brackets []string
	if a.Schedule == Once {
		name += ", " + schedule
	} else {
		brackets = append(brackets, schedule)
	}
	if a.Preset == Ledg {
		brackets = append(brackets, "preset "+string(Ledg))
	}
	if len(brackets) > 0 {
		name += " (" + strings.Join(brackets, ", ") + ")"
	}
	return name
}

// Short returns the arm's name for narrow tables, such as "Rand+CE/up". Arms with different
// names have different short names.
func (a Arm) Short() string {
	_, short := a.selection()
	if short += "+" + nameOf(trainingNames, a.Objective).short; a.published() {
		short = "CEG"
	}
	short += "/" + nameOf(scheduleNames, string(a.Schedule)).short
	if a.Preset == Ledg {
		short += "/" + string(Ledg)
	}
	return short
}

// Schedules returns the schedules that an arm can have.
func Schedules() []Timing { return []Timing{Once, Published, Early, OwnSchedule} }

// ScheduleName returns a schedule's display name and its abbreviation.
func ScheduleName(t Timing) (name, short string) {
	p := nameOf(scheduleNames, string(t))
	return p.name, p.short
}

// SelectionName returns a query strategy's display name and its abbreviation.
func SelectionName(strategy string) (name, short string) {
	p := nameOf(selectionNames, strategy)
	return p.name, p.short
}

// TrainingName returns a training objective's display name and its abbreviation.
func TrainingName(objective string) (name, short string) {
	p := nameOf(trainingNames, objective)
	return p.name, p.short
}
