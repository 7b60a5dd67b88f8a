package nb

import (
	"reflect"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// settingNames has a field for each setting, named as its path ends.
type settingNames struct {
	Preset, Method, Protocol, Seed string

	Dataset, Target, SplitSeed, PoolShare, PoolSeed, Classes, Labels, Group, Decode, Layout, Site, Exclude,
	ImageSize, Normalise, Views string

	Strategy, Budget, InitialShare, Initial, Domains, Rounds, WeightU, Gamma1, Gamma2, Oracle, Begun,
	SoftmaxTwice, StrategyCode, InitialCode, PhiCentroids string

	Objective, StyleWeights, Reduction, Consistency, Tau, Delta, IntraWeight, InterWeight, Reliable,
	ThresholdStart, ThresholdEnd, ThresholdBase, DomainLoss, BatchNorm, TargetPass, DomainFeatures, Average,
	Threshold, RscShare, ObjectiveCode string

	Weights, Name, Width, Pooling, Precision, Devices, Freeze, HeadEpochs, HeadStart, LoraRank, LoraAlpha, Output,
	Tokens, Pixels, DomainHidden, DomainRelu string

	Epochs, PerDomain, Batches, EpochOf, EvaluateEvery, Timing, QueryAfter, QueryShares string

	BackboneRate, ClassHeadRate, DomainHeadRate, Momentum, WeightDecay, Nesterov, DropAt string
}

// Settings holds the names of settings for [Set], for completion by Tab: nb.Set(nb.Settings.Epochs, 20). A
// mistyped one fails when the cell is compiled, before it is linked.
var Settings = func() (names settingNames) {
	for _, s := range config.Settings() {
		if field := reflect.ValueOf(&names).Elem().FieldByName(fieldName(s.Path)); field.IsValid() {
			field.SetString(s.Path)
		}
	}
	return names
}()

// fieldName is how a path ends, as a Go name: SplitSeed for data.split_seed.
func fieldName(path string) (name string) {
	for word := range strings.SplitSeq(path[strings.LastIndex(path, ".")+1:], "_") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	return name
}
