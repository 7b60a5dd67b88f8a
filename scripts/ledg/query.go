package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/poolfile"
	"github.com/ledg-go/ledg/ceg/seed"
)

// queryFlags are the flags of `ledg query`.
type queryFlags struct {
	pool, strategy, preset string
	domains                string
	classes                int
	radius                 float64
	n                      int
	gamma1, gamma2         float64
	bias                   bool
	seed                   uint64
	json                   bool
}

// newQueryCommand returns the command that runs a query strategy on a file.
func newQueryCommand() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "query --pool FILE -n N",
		Short: "Choose which samples of your own pool to label",
		Long: `Choose which samples to label, by what your own network says about them: CEG's
exploration, or another query strategy, for people who train elsewhere. Prints the
rows of the chosen samples, counted from 0, best first, one a line.

FILE is .npz, .safetensors or .parquet with these arrays, for N unlabelled and M
labelled samples, D features, C classes and K domains:

  features                        [N, D]  from the backbone, before the heads, or
                                  [N, V, D] of which view 0 counts
  class_logits or class_probs     [N, C]
  domain_logits or domain_probs   [N, K]
  labelled_features               [M, D]
  labelled_labels                 [M]     classes, from 0
  labelled_domains                [M]     domains, from 0
  domains                         [N]     domains, for ceg-balanced and --domains
  labelled_class_logits or _probs [M, C]  for bait and bait-equal

in float32, float64 or float16, and int64 or int32. Logits are taken where both are there, and
are what to export: the ranks are then those of ledg train for the same logits.
Probabilities in float32 that round to 1 are told apart by the others, until these
round to 0. Equal scores are ordered by a hash of --seed and the row's number. Only
the arrays that the strategy needs are looked at:

` + neededArrays() + `
Those that need no label and no prediction (` + strings.Join(active.ColdNames(), ", ") + `) 
choose the first labels, too, from a file without any labelled_ array. --domains
divides the query: stratified asks as many of each domain, proportional its share of the pool,
balanced as many of each and what is left over where the next one is wanted most.

With --json each line is an object: index, and for ceg, ceg-batch and ceg-balanced the
scores s_u, s_r, s_d, their ranks rank_u, rank_r, rank_d and the weighted sum r, of
which the smallest are chosen (of ceg-balanced, ranks are within the sample's domain,
and r is over their number); for the others their own score, of which the largest are.`,
		Example: `  ledg query --pool pool.npz -n 100 --gamma1 3 --gamma2 1
  ledg query --pool pool.safetensors -n 100 --strategy badge --seed 7 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.pool, "pool", "", "file of the pool's arrays")
	flags.IntVarP(&f.n, "number", "n", 0, "how many samples to choose")
	flags.Float64Var(&f.gamma1, "gamma1", 1, "weight of the rank of representativeness in ceg, ceg-batch and ceg-balanced; that of uncertainty is 1")
	flags.Float64Var(&f.gamma2, "gamma2", 1, "weight of the rank of diversity in them")
	flags.StringVar(&f.strategy, "strategy", "ceg", "query strategy: "+strings.Join(active.Names(), ", "))
	flags.StringVar(&f.preset, "preset", string(config.Paper), "paper, since the network is not the published code's, or authors for that code's behaviour, ledg train's default: features [f,1]/|[f,1]|, and a second softmax")
	flags.BoolVar(&f.bias, "bias", true, "badge: gradients of the class head's bias, too, as in training; false for the variant of the paper")
	flags.StringVar(&f.domains, "domains", string(active.Pooled), "how the query is divided among domains: "+divisions())
	flags.IntVar(&f.classes, "classes", 0, "number of classes, for probcover (default: the columns of class_*)")
	flags.Float64Var(&f.radius, "radius", 0, "radius of probcover's balls among features of length 1 (default: searched)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the strategies that draw (uniform, badge, kmeans, typiclust, ...), and of the order of equal scores")
	flags.BoolVar(&f.json, "json", false, "print each chosen sample as a JSON object with its scores")
	cmd.MarkFlagRequired("pool")
	cmd.MarkFlagRequired("number")
	return cmd
}

// neededArrays lists which arrays each strategy needs, in the file's names.
func neededArrays() string {
	var parts []string
	for _, s := range active.Strategies(active.Options{}) {
		var names []string
		for _, a := range []struct {
			array active.Arrays
			name  string
		}{
			{active.Features, "features"},
			{active.ClassProbs, "class_*"},
			{active.DomainProbs, "domain_*"},
			{active.LabelledFeatures, "labelled_features"},
			{active.LabelledClasses, "labelled_labels"},
			{active.LabelledDomains, "labelled_domains"},
			{active.LabelledProbs, "labelled_class_*"},
			{active.Domains, "domains"},
		} {
			// The cells are classes and domains.
			if needs := s.Needs(); needs.Has(a.array) || needs.Has(active.LabelledCells) && (a.array == active.LabelledClasses || a.array == active.LabelledDomains) {
				names = append(names, a.name)
			}
		}
		if names == nil {
			names = []string{"any one"}
		}
		parts = append(parts, fmt.Sprintf("  %-12s %s\n", s.Name(), strings.Join(names, ", ")))
	}
	return strings.Join(parts, "")
}

func (f *queryFlags) run(cmd *cobra.Command) error {
	strategy, err := f.check()
	if err != nil {
		return err
	}
	if err := f.prepare(cmd.ErrOrStderr(), &strategy); err != nil {
		return err
	}
	picks, err := poolfile.Query(cmd.Context(), f.pool, strategy, f.n, seed.New(f.seed, "query"))
	var count *poolfile.CountError
	switch {
	case errors.As(err, &count):
		return usagef("-n %d: %s has a pool of %d", f.n, f.pool, count.Rows)
	case errors.Is(err, fs.ErrNotExist):
		return usagef("--pool %s: %w", f.pool, fs.ErrNotExist)
	case err != nil:
		return err
	}
	return writePicks(cmd.OutOrStdout(), picks, f.json)
}

// prepare divides the strategy, and says what it will not look at.
func (f *queryFlags) prepare(say io.Writer, s *active.Strategy) error {
	shape, err := poolfile.ShapeOf(f.pool)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("--pool %s: %w", f.pool, fs.ErrNotExist)
	case err != nil:
		return err
	}
	if p, ok := (*s).(active.ProbCover); ok && p.Classes == 0 {
		p.Classes = shape.Classes
		*s = p
	}
	if *s, err = active.Divide(*s, active.Division(f.domains)); err != nil {
		return usagef("--domains %q: want one of %s", f.domains, divisions())
	}
	if l, ok := (*s).(active.Limited); ok {
		if note := l.Limits(f.n, shape.Rows, shape.Features); note != "" {
			fmt.Fprintln(say, note)
		}
	}
	return nil
}

// divisions lists the values of --domains.
func divisions() string {
	var names []string
	for _, d := range active.Divisions() {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}

// check finds what is wrong with the flags before the file is opened.
func (f *queryFlags) check() (active.Strategy, error) {
	c, err := config.Resolve(config.Spec{Target: config.NoTarget, Preset: config.Preset(f.preset)})
	if err != nil {
		return nil, settingError(err)
	}
	o := c.Exploration.Options(f.seed, f.classes)
	o.Weights, o.Radius, o.WithoutBias = active.Gammas(f.gamma1, f.gamma2), f.radius, !f.bias
	for _, g := range []struct {
		flag string
		v    float64
	}{{"--gamma1", f.gamma1}, {"--gamma2", f.gamma2}} {
		if active.Gammas(g.v, 0).Validate() != nil {
			return nil, usagef("%s %v: want a number from 0", g.flag, g.v)
		}
	}
	if f.classes < 0 || f.classes == 1 {
		return nil, usagef("--classes %d: want at least 2", f.classes)
	}
	if !(f.radius >= 0 && f.radius <= 2) {
		return nil, usagef("--radius %v: want 0 to 2", f.radius)
	}
	if f.n < 1 {
		return nil, usagef("-n %d: want at least 1 sample", f.n)
	}
	strategy, err := active.ByName(f.strategy, o)
	if err != nil {
		return nil, usagef("--strategy %q: want one of %s", f.strategy, strings.Join(active.Names(), ", "))
	}
	return strategy, nil
}

// scoredPick and pick are lines of --json; the names are those of queries.csv.
type (
	scoredPick struct {
		Index int     `json:"index"`
		Su    float64 `json:"s_u"`
		Sr    float64 `json:"s_r"`
		Sd    float64 `json:"s_d"`
		RankU int     `json:"rank_u"`
		RankR int     `json:"rank_r"`
		RankD int     `json:"rank_d"`
		R     float64 `json:"r"`
	}
	pick struct {
		Index int     `json:"index"`
		Score float64 `json:"score"`
	}
)

func writePicks(w io.Writer, picks []active.Pick, asJSON bool) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	for _, p := range picks {
		var err error
		switch {
		case !asJSON:
			_, err = fmt.Fprintln(out, p.Index)
		case p.Scored:
			err = e.Encode(scoredPick{p.Index, p.Su, p.Sr, p.Sd, p.RankSu, p.RankSr, p.RankSd, p.R})
		default:
			err = e.Encode(pick{p.Index, p.Score})
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}
