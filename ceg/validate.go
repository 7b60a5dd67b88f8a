package ceg

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
)

// SettingError is a setting that does not make sense for the data: a target
// that does not exist, a budget above the pool.
type SettingError struct {
	// Setting is the field's JSON name, such as "target".
	Setting string
	Err     error
}

func (e *SettingError) Error() string { return e.Setting + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *SettingError) Unwrap() error { return e.Err }

// Validate reports the first setting that makes no sense by itself. Run finds
// what does not fit the data.
func (c Config) Validate() error {
	s, o, x, g := c.Schedule, c.Optimizer, c.Exploration, c.Generalization
	switch {
	case c.Format != result.Format:
		return fmt.Errorf("config format %d, want %d", c.Format, result.Format)
	case c.Method == "":
		return fmt.Errorf("config: method has no name")
	case c.Data.Dataset == "":
		return fmt.Errorf("config: no data set")
	case c.Data.Target == "":
		return fmt.Errorf("config: no target domain")
	case c.Data.vectors() && c.Data.ImageSize != 0:
		return fmt.Errorf("config: image size %d, but data set %s has feature vectors", c.Data.ImageSize, c.Data.Dataset)
	case c.Data.vectors() && c.Network.Weights != nil:
		return fmt.Errorf("config: weights %s, but the features of data set %s come from a network already: its classifier starts at random", c.Network.Weights, c.Data.Dataset)
	case c.Data.ImageSize < 8 && !c.Data.vectors():
		return fmt.Errorf("config: image size %d, want at least 8", c.Data.ImageSize)
	case s.Epochs < 1:
		return fmt.Errorf("config: %d epochs, want at least 1", s.Epochs)
	case s.EvaluateEvery < 0:
		return fmt.Errorf("config: evaluation every %d epochs, want 0 or more", s.EvaluateEvery)
	case s.PerDomain < 2:
		return fmt.Errorf("config: %d images per domain in a batch, want at least 2", s.PerDomain)
	case !slices.IsSorted(s.QueryAfter) || len(slices.Compact(slices.Clone(s.QueryAfter))) != len(s.QueryAfter):
		return fmt.Errorf("config: query epochs %v are not increasing", s.QueryAfter)
	case len(s.QueryAfter) > 0 && (s.QueryAfter[0] < 0 || s.QueryAfter[len(s.QueryAfter)-1] > s.Epochs-2):
		return fmt.Errorf("config: query epochs %v, want 0 to %d: labels asked after the last epoch are not trained on", s.QueryAfter, s.Epochs-2)
	case !(x.InitialShare > 0 && x.InitialShare <= 1):
		return fmt.Errorf("config: initial share of the budget %v, want above 0 to 1", x.InitialShare)
	case x.InitialShare < 1 && len(s.QueryAfter) == 0:
		return fmt.Errorf("config: no query epochs to spend %v of the budget in", 1-x.InitialShare)
	case s.Timing != "" && !slices.Contains(Timings(), s.Timing):
		return fmt.Errorf("config: timing %q, want one of %s", s.Timing, list(Timings()))
	case !slices.Contains(Protocols(), c.Protocol):
		return fmt.Errorf("config: protocol %q, want %q or %q", c.Protocol, PaperProtocol, OriginalProtocol)
	case s.EpochOf != OverUnlabelled && s.EpochOf != OverLabelled:
		return fmt.Errorf("config: an epoch of the images %q, want %q or %q", s.EpochOf, OverUnlabelled, OverLabelled)
	case !(o.DropAt >= 0 && o.DropAt < 1):
		return fmt.Errorf("config: rates drop at %v of the epochs, want 0 to below 1", o.DropAt)
	case x.Initial == (active.Uniform{}).Name() || x.Initial != "" && !slices.Contains(Initials(), x.Initial):
		return fmt.Errorf("config: initial labels by %q, want one of %s, which need no labels; empty for uniform", x.Initial, strings.Join(Initials(), ", "))
	case x.Domains == active.Pooled || x.Domains != "" && !slices.Contains(active.Divisions(), x.Domains):
		return fmt.Errorf("config: queries divided among domains %q, want one of %s; empty for pooled", x.Domains, list(active.Divisions()))
	case x.Oracle != Simulated && x.Oracle != People:
		return fmt.Errorf("config: oracle %q, want %q or none", x.Oracle, People)
	case x.Rounds != EvenRounds && x.Rounds != PublishedRounds:
		return fmt.Errorf("config: query rounds %q, want %q or %q", x.Rounds, EvenRounds, PublishedRounds)
	case !(x.WeightU >= 0 && x.Gamma1 >= 0 && x.Gamma2 >= 0) || math.IsInf(x.WeightU+x.Gamma1+x.Gamma2, 0):
		return fmt.Errorf("config: weight_u %v, gamma1 %v, gamma2 %v, want 0 or more", x.WeightU, x.Gamma1, x.Gamma2)
	case !(o.BackboneRate >= 0 && o.ClassHeadRate >= 0 && o.DomainHeadRate >= 0):
		return fmt.Errorf("config: learning rates %v, %v, %v, want 0 or more", o.BackboneRate, o.ClassHeadRate, o.DomainHeadRate)
	case !(g.ThresholdStart >= 0 && g.ThresholdStart <= 1 && g.ThresholdEnd >= 0 && g.ThresholdEnd <= 1):
		return fmt.Errorf("config: thresholds %v to %v, want 0 to 1", g.ThresholdStart, g.ThresholdEnd)
	case g.Reliable != NearestImages && g.Reliable != QuotaRandom:
		return fmt.Errorf("config: reliable set %q, want %q or %q", g.Reliable, NearestImages, QuotaRandom)
	case g.Base != OfUnlabelled && g.Base != OfAll:
		return fmt.Errorf("config: threshold base %q, want %q or %q", g.Base, OfUnlabelled, OfAll)
	}
	if err := s.checkShares(x.InitialShare); err != nil {
		return err
	}
	if _, ok := objective.ByName(g.Objective); !ok {
		return fmt.Errorf("config: no objective %q", g.Objective)
	}
	if g.Objective == FixMatch && g.Consistency == objective.Nothing {
		return fmt.Errorf("config: consistency %q is nothing for fixmatch: want %q or %q", g.Consistency, objective.OnUnlabelled, objective.Both)
	}
	if err := g.checkStyle(); err != nil {
		return err
	}
	if g.Average != "" && g.Average != EMA && g.Average != Three {
		return fmt.Errorf("config: average of weights %q, want %q or %q; empty for none", g.Average, EMA, Three)
	}
	if g.Threshold != "" && g.Threshold != FreeMatch {
		return fmt.Errorf("config: threshold %q, want %q; empty for tau", g.Threshold, FreeMatch)
	}
	if g.Threshold != "" && !g.thresholds() {
		return fmt.Errorf("config: threshold %q, but the objective has no threshold of confidence", g.Threshold)
	}
	if !(g.RSCShare >= 0 && g.RSCShare < 1) {
		return fmt.Errorf("config: rsc_share %v, want 0 to below 1; 0 for DomainBed's 1/3", g.RSCShare)
	}
	if g.RSCShare != 0 && g.Objective != rscDomainBed {
		return fmt.Errorf("config: rsc_share %v, but the objective is %s, not %s", g.RSCShare, g.Objective, rscDomainBed)
	}
	if o := c.Objective(); g.Average != "" && o.Test != nil {
		return fmt.Errorf("config: objective %s predicts by heads of its own, which are not averaged", o.Name)
	}
	if err := c.Data.checkNormalisation(); err != nil {
		return err
	}
	if err := c.checkFit(c.Objective()); err != nil {
		return err
	}
	if err := g.settings().Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	vector := 0
	if c.Data.vectors() {
		vector = 1
	}
	options, err := c.LearnerOptions(2, 1, vector) // the data decide about the numbers
	if err != nil {
		return err
	}
	return options.Validate()
}
