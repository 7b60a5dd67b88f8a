package objective_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/objectivetest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

func TestBuiltInObjectivesPass(t *testing.T) {
	for _, o := range []objective.Objective{
		objective.ERM(objective.Passes{}), objective.FixMatch(0.5, config.Both, objective.DomainByDomain), objective.MeanTeacher(),
		objective.CEG{Consistency: config.Both, Tau: 0.5, Delta: 0.5, IntraWeight: 0.5, InterWeight: 0.5, DomainLoss: true}.Objective(),
		objective.LogisticRegression(), objective.GDA(),
	} {
		t.Run(o.Name, func(t *testing.T) { objectivetest.Check(t, o) })
	}
}

// flaws are objectives that must not pass, and what Check says of them.
var flaws = map[string]objective.Objective{
	"total NaN": flawed(func(s objective.Step, ce *Node) {
		s.Minimise("total", Log(Neg(ce)), objective.Backbone, objective.ClassHead)
	}),
	"move no weight": flawed(func(s objective.Step, ce *Node) {
		s.Minimise("total", StopGradient(ce), objective.DomainHead)
	}),
	"it has no step": {Name: "flawed"},
}

func flawed(loss func(s objective.Step, ce *Node)) objective.Objective {
	return objective.Objective{Name: "flawed",
		Inputs: []objective.Input{objective.Images("x", objective.Labelled, augment.WeakView), objective.Labels("y", objective.Labelled)},
		Step: func(s objective.Step) {
			f := s.Forward(objective.Backbone, objective.View{Images: s.In("x")})[0]
			loss(s, ReduceAllMean(objective.CrossEntropy(s.Head(objective.ClassHead, f), s.In("y"))))
		}}
}

// Check fails for an objective with a flaw. It cannot be called here without failing, so that
// another process calls it.
func TestFlawsAreFound(t *testing.T) {
	const variable = "OBJECTIVETEST_FLAW"
	if want := os.Getenv(variable); want != "" {
		objectivetest.Check(t, flaws[want])
		return
	}
	for want := range flaws {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFlawsAreFound$")
		cmd.Env = append(os.Environ(), variable+"="+want)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("error %v, want %q in\n%s", err, want, out)
		}
	}
}
