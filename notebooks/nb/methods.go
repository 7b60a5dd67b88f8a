package nb

import (
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
)

// Methods holds the names of methods, for completion by Tab: nb.Methods.CEG. A query strategy trains
// with the CEG loss; nb.Methods.BADGE + "-ce" trains with cross-entropy and nb.Methods.BADGE + "+" +
// nb.Methods.FixMatch with another objective. An objective alone labels at random upfront. Ledg is
// the preset.
var Methods = struct {
	CEG, CEGBatch, CEGBalanced, Random, Entropy, BvSB, Confidence, CoreSet, BADGE, KMeans, TypiClust,
	ProbCover, MaxHerding, UHerding, UHerdingS1, BAIT, BAITEqual, DropQuery, TCM string

	FixMatch, MeanTeacher, MixMatch, StyleMatch, StyleMatchAmplitude, StyleMatchRGB, JiGen, CrossGrad,
	DDAIG, DAEL, RSC, RSCDomainBed, FACT, Logistic, Propagation, GDA string

	Ledg string
}{
	CEG:                 "ceg",
	CEGBatch:            "ceg-batch",
	CEGBalanced:         "ceg-balanced",
	Random:              "uniform",
	Entropy:             "entropy",
	BvSB:                "bvsb",
	Confidence:          "confidence",
	CoreSet:             "coreset",
	BADGE:               "badge",
	KMeans:              "kmeans",
	TypiClust:           "typiclust",
	ProbCover:           "probcover",
	MaxHerding:          "maxherding",
	UHerding:            "uherding",
	UHerdingS1:          "uherding-s1",
	BAIT:                "bait",
	BAITEqual:           "bait-equal",
	DropQuery:           "dropquery",
	TCM:                 "tcm",
	FixMatch:            "fixmatch",
	MeanTeacher:         "meanteacher",
	MixMatch:            "mixmatch",
	StyleMatch:          "stylematch",
	StyleMatchAmplitude: "stylematch-amplitude",
	StyleMatchRGB:       "stylematch-rgb",
	JiGen:               "jigen",
	CrossGrad:           "crossgrad",
	DDAIG:               "ddaig",
	DAEL:                "dael",
	RSC:                 "rsc",
	RSCDomainBed:        "rsc-domainbed",
	FACT:                "fact",
	Logistic:            "logistic",
	Propagation:         "propagation",
	GDA:                 "gda",
	Ledg:                "ledg",
}

// Strategies lists the query strategies below a summary that opens the list: what each queries, and its
// source.
func Strategies() {
	t := NewTable("strategy", "queries", "source")
	for i := range t.Columns {
		t.Columns[i].Right = false
	}
	for _, e := range active.Registry() {
		t.AddRow(e.Name, e.Line, e.Citation)
	}
	Markdown("%s", strings.TrimSpace(folded("What each strategy queries", markdownOf(t))))
}
