package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/predict/poolfile"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/seed"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

type queryFlags struct {
	pool, out                 string
	strategy, preset, domains string
	n, classes, subsample     int
	gamma1, gamma2, radius    float64
	seed                      uint64
	json, bias                bool
}

// maxTogether is the largest pool whose rows are compared with each other without
// --subsample: beyond it, memory and time grow too large.
const maxTogether = 1_000_000

func newQueryCommand() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:         "query --pool FILE -n N",
		Aliases:     []string{"select"},
		Annotations: map[string]string{guide: "features.md", flagGroups: queryGroups},
		Short:       "Select the samples of your own pool to label",
		Long: `Select which samples to label from the outputs of your own network, with CEG or another
query strategy. Prints the rows of the selected samples, counted from 0, best first.

FILE is .npz, .safetensors or .parquet with these arrays, for N unlabelled and M
labelled samples, D features, C classes and K domains:

  features                        [N, D] from the backbone, or [N, V, D] (view 0 counts)
  class_logits or class_probs     [N, C]
  domain_logits or domain_probs   [N, K]
  labelled_features               [M, D]
  labelled_labels                 [M]    classes, from 0
  labelled_domains                [M]    domains, from 0
  domains                         [N]    domains, for ceg-balanced and --domains
  groups, labelled_groups         [N], [M] such as patients or bursts, numbers or names
  labelled_class_logits or _probs [M, C] for bait and bait-equal

Types are float32, float64, float16, bfloat16, int64 or int32. Export logits: they take precedence, and
the ranks then equal those of ledg train. Ties are ordered by a hash of --seed and the row.
One sample of each group is selected before a second, unlabelled groups first. Each
strategy reads only the arrays it needs:

` + neededArrays() + `
` + strings.Join(active.ColdNames(), ", ") + ` also
select the first labels, from a file without labelled_ arrays. --domains divides the
query: stratified takes equally many per domain, proportional its share of the pool, and
balanced gives the remainder to the domain that needs it most.

` + strings.Join(separableNames(), ", ") + ` read the pool in
blocks, with 50 to 300 bytes of memory a row. The others refuse a pool above ` + humanize.Comma(maxTogether) + ` rows without --subsample.

--json prints the index and the scores of each sample. For ceg, ceg-batch and ceg-balanced
these are s_u, s_r, s_d, their ranks, and the weighted sum r. The smallest sums are
selected, by ceg-balanced within each domain; other strategies select the largest scores.`,
		Example: `  ledg query --pool pool.npz -n 100 --gamma1 3 --gamma2 1
  ledg query --pool pool.safetensors -n 100 --strategy badge --seed 7 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.pool, "pool", "", "file of the pool's arrays (required)")
	flags.StringVar(&f.out, "out", "", "file to write (default stdout)")
	flags.IntVar(&f.subsample, "subsample", 0, "rows to draw of a pool too large for the strategy")
	flags.IntVarP(&f.n, "number", "n", 0, "number of samples to select (required)")
	flags.Float64Var(&f.gamma1, "gamma1", 1, "weight of the representativeness rank in CEG")
	flags.Float64Var(&f.gamma2, "gamma2", 1, "weight of the diversity rank in CEG")
	flags.StringVar(&f.strategy, "strategy", "ceg", "query strategy; see ledg methods")
	flags.StringVar(&f.preset, "preset", string(config.Paper), "behaviour of CEG: paper or authors (the published code)")
	flags.BoolVar(&f.bias, "bias", true, "badge: use gradients of the bias, too")
	flags.StringVar(&f.domains, "domains", string(active.Pooled), "how the query is divided among domains: "+divisions())
	flags.IntVar(&f.classes, "num-classes", 0, "number of classes, for probcover (default from class_*)")
	flags.Float64Var(&f.radius, "radius", 0, "radius of probcover (default searched)")
	bound(flags, "[1, inf)", "number")
	bound(flags, "[0, inf)", "subsample", "gamma1", "gamma2")
	bound(flags, classesBounds, "num-classes")
	bound(flags, "[0, 2]", "radius")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of random choices and of ties")
	flags.BoolVar(&f.json, "json", false, "print one JSON object per sample, with scores")
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
	if f.out != "" {
		if err := regular.FolderOf(f.out); err != nil {
			return err
		}
	}
	strategy, err := f.divided(f.classes)
	if err != nil {
		return err
	}
	if strategy, err = f.prepare(cmd.ErrOrStderr(), strategy); err != nil {
		return err
	}
	picks, err := poolfile.Query(cmd.Context(), f.pool, strategy, f.n, f.subsample, seed.New(f.seed, "query"))
	if err != nil {
		return f.byFlags(err)
	}
	if f.out == "" {
		return f.writePicks(cli.Raw(cmd.OutOrStdout()), picks)
	}
	return regular.WriteFile(f.out, func(w io.Writer) error { return f.writePicks(w, picks) })
}

// byFlags returns an error of a query with the names of its flags.
func (f *queryFlags) byFlags(err error) error {
	var count *poolfile.CountError
	switch {
	case errors.As(err, &count):
		return usagef("-n %d: %s has a pool of %d", f.n, f.pool, count.Rows)
	case errors.Is(err, fs.ErrNotExist):
		return usagef("--pool %s: %w", f.pool, fs.ErrNotExist)
	}
	return err
}

// separableNames lists the strategies that need little memory.
func separableNames() (names []string) {
	for _, s := range active.Strategies(active.Options{}) {
		if poolfile.Separable(s) {
			names = append(names, s.Name())
		}
	}
	return names
}

// prepare validates --subsample, and says what the strategy will not look at. It returns the strategy for
// the pool's number of classes.
func (f *queryFlags) prepare(say io.Writer, s active.Strategy) (active.Strategy, error) {
	separable := poolfile.Separable(s)
	switch {
	case f.subsample > 0 && f.subsample < f.n:
		return nil, usagef("--subsample %d: want at least -n %d", f.subsample, f.n)
	case f.subsample > 0 && separable:
		return nil, usagef("--subsample %d: %s reads pools of any size", f.subsample, s.Name())
	}
	shape, err := poolfile.ShapeOf(f.pool)
	if err != nil {
		return nil, f.byFlags(err)
	}
	if shape.HeldOut > 0 {
		fmt.Fprintf(say, "%s rows are of the splits val or test, and are not queried\n", humanize.Comma(int64(shape.HeldOut)))
		shape.Rows -= shape.HeldOut
	}
	if s, err = f.divided(cmp.Or(f.classes, shape.Classes)); err != nil {
		return nil, err
	}
	if shape.Rows > maxTogether && f.subsample == 0 && !separable {
		return nil, usagef("--pool %s: %s compares all rows, and %s are too many: --subsample %d draws that many", f.pool, f.strategy, humanize.Comma(int64(shape.Rows)), maxTogether/10)
	}
	if f.subsample > 0 {
		shape.Rows = min(shape.Rows, f.subsample)
	}
	if l, ok := s.(active.Limited); ok {
		if note := l.Limits(f.n, shape.Rows, shape.Features); note != "" {
			fmt.Fprintln(say, note)
		}
	}
	return s, nil
}

// divisions lists the values of --domains.
func divisions() string {
	var names []string
	for _, d := range active.Divisions() {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}

// divided is the strategy of the flags, for a number of classes.
func (f *queryFlags) divided(classes int) (active.Strategy, error) {
	c, err := config.Resolve(config.Spec{Target: config.NoTarget, Preset: config.Preset(f.preset)})
	if err != nil {
		return nil, settingError(err)
	}
	o := c.Exploration.Options(f.seed, classes)
	o.Weights, o.Radius, o.WithoutBias = active.Gammas(f.gamma1, f.gamma2), f.radius, !f.bias
	strategy, err := active.ByName(f.strategy, o)
	if err != nil {
		return nil, usagef("--strategy %q: want one of %s", f.strategy, strings.Join(active.Names(), ", "))
	}
	if strategy, err = active.Divide(strategy, active.Division(f.domains)); err != nil {
		return nil, usagef("--domains %q: want one of %s", f.domains, divisions())
	}
	return strategy, nil
}

// scoredPick and pick are lines of --json; the names are as in queries.csv.
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

func (f *queryFlags) writePicks(w io.Writer, picks []active.Pick) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	for _, p := range picks {
		var err error
		switch {
		case !f.json:
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
