package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/predict/poolfile"
	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/seed"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// queryFlags are the flags of `ledg query`.
type queryFlags struct {
	querySettings
	pool, out string
	shard     shardValue
	classes   int
	radius    float64
	subsample int
	bias      bool
}

// querySettings are those that the shards of a query have in common.
type querySettings struct {
	Strategy string  `json:"strategy"`
	Preset   string  `json:"preset"`
	Domains  string  `json:"domains"`
	N        int     `json:"n"`
	Gamma1   float64 `json:"gamma1"`
	Gamma2   float64 `json:"gamma2"`
	Seed     uint64  `json:"seed"`
	JSON     bool    `json:"json"`
}

// maxTogether is the largest pool whose rows are compared with each other without
// --subsample: beyond it, memory and time grow too large.
const maxTogether = 1_000_000

// newQueryCommand returns the command that runs a query strategy on a file.
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
blocks, with 50 to 300 bytes of memory a row. --shard divides them, for ledg merge. The others refuse a pool above ` + humanize.Comma(maxTogether) + ` rows without --subsample.

--json prints the index and the scores of each sample. For ceg, ceg-batch and ceg-balanced
these are s_u, s_r, s_d, their ranks, and the weighted sum r. The smallest sums are
selected, by ceg-balanced within each domain; other strategies select the largest scores.`,
		Example: `  ledg query --pool pool.npz -n 100 --gamma1 3 --gamma2 1
  ledg query --pool pool.safetensors -n 100 --strategy badge --seed 7 --json
  ledg query --pool pool.safetensors -n 100 --out picked.txt --shard 0/4   # ... 3/4, then ledg merge picked.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.pool, "pool", "", "file of the pool's arrays (required)")
	flags.StringVar(&f.out, "out", "", "file to write (default stdout)")
	flags.IntVar(&f.subsample, "subsample", 0, "rows to draw of a pool too large for the strategy")
	flags.IntVarP(&f.N, "number", "n", 0, "number of samples to select (required)")
	flags.Float64Var(&f.Gamma1, "gamma1", 1, "weight of the representativeness rank in CEG")
	flags.Float64Var(&f.Gamma2, "gamma2", 1, "weight of the diversity rank in CEG")
	flags.StringVar(&f.Strategy, "strategy", "ceg", "query strategy; see ledg methods")
	flags.StringVar(&f.Preset, "preset", string(config.Paper), "behaviour of CEG: paper or authors (the published code)")
	flags.BoolVar(&f.bias, "bias", true, "badge: use gradients of the bias, too")
	flags.StringVar(&f.Domains, "domains", string(active.Pooled), "how the query is divided among domains: "+divisions())
	flags.IntVar(&f.classes, "num-classes", 0, "number of classes, for probcover (default from class_*)")
	flags.Float64Var(&f.radius, "radius", 0, "radius of probcover (default searched)")
	bound(flags, "[1, inf)", "number")
	bound(flags, "[0, inf)", "subsample", "gamma1", "gamma2")
	bound(flags, classesBounds, "num-classes")
	bound(flags, "[0, 2]", "radius")
	flags.Uint64Var(&f.Seed, "seed", 0, "seed of random choices and of ties")
	flags.BoolVar(&f.JSON, "json", false, "print one JSON object per sample, with scores")
	cmd.MarkFlagRequired("pool")
	cmd.MarkFlagRequired("number")
	cmd.Flags().Var(&f.shard, "shard", shardUsage)
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
	if err := f.checkShard(strategy); err != nil {
		return err
	}
	if err := f.prepare(cmd.ErrOrStderr(), &strategy); err != nil {
		return err
	}
	if !f.shard.Whole() {
		settings, err := json.Marshal(f.querySettings)
		if err != nil {
			return err
		}
		rows, err := poolfile.Score(cmd.Context(), f.pool, strategy, f.N, f.shard.Shard, settings, f.out)
		if err != nil {
			return f.byFlags(err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s rows\n", f.shard.File(f.out), humanize.Comma(int64(rows)))
		return nil
	}
	picks, err := poolfile.QuerySome(cmd.Context(), f.pool, strategy, f.N, f.subsample, f.stream())
	if err != nil {
		return f.byFlags(err)
	}
	if f.out == "" {
		return f.writePicks(cli.Raw(cmd.OutOrStdout()), picks)
	}
	return regular.WriteFile(f.out, func(w io.Writer) error { return f.writePicks(w, picks) })
}

// stream is what strategies draw from.
func (f *querySettings) stream() *rand.Rand { return seed.New(f.Seed, "query") }

// byFlags returns an error of a query with the names of its flags.
func (f *queryFlags) byFlags(err error) error {
	var count *poolfile.CountError
	switch {
	case errors.As(err, &count):
		return usagef("-n %d: %s has a pool of %d", f.N, f.pool, count.Rows)
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

// checkShard validates --shard, --out and --subsample before the file is opened.
func (f *queryFlags) checkShard(strategy active.Strategy) error {
	divided, err := active.Divide(strategy, active.Division(f.Domains))
	if err != nil {
		return usagef("--domains %q: want one of %s", f.Domains, divisions())
	}
	name := f.Strategy
	if active.Division(f.Domains) != active.Pooled {
		name += " with --domains " + f.Domains
	}
	separable := poolfile.Separable(divided)
	switch {
	case !f.shard.Whole() && !separable:
		return usagef("--shard %s: %s compares rows with each other, which shards cannot; want one of %s", &f.shard, name, strings.Join(separableNames(), ", "))
	case !f.shard.Whole() && f.out == "":
		return usagef("--shard %s: --out is missing, beside which the shard is left", &f.shard)
	case f.subsample < 0 || f.subsample > 0 && f.subsample < f.N:
		return usagef("--subsample %d: want at least -n %d", f.subsample, f.N)
	case f.subsample > 0 && separable:
		return usagef("--subsample %d: %s reads pools of any size", f.subsample, name)
	case f.out != "":
		return regular.FolderOf(f.out)
	}
	return nil
}

// mergeQuery chooses by the shards of a query, and writes what it would have written.
func mergeQuery(ctx context.Context, out string, files []shard.File) (picked int, err error) {
	text, err := poolfile.Settings(files[0])
	if err != nil {
		return 0, err
	}
	var f queryFlags
	if err := json.Unmarshal(text, &f.querySettings); err != nil {
		return 0, fmt.Errorf("%s: %w", files[0].Path, err)
	}
	strategy, err := f.check()
	if err == nil {
		strategy, err = active.Divide(strategy, active.Division(f.Domains))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", files[0].Path, err)
	}
	if err := regular.FolderOf(out); err != nil {
		return 0, err
	}
	picks, err := poolfile.Merge(ctx, files, strategy, f.N, f.stream())
	if err != nil {
		return 0, err
	}
	return len(picks), regular.WriteFile(out, func(w io.Writer) error { return f.writePicks(w, picks) })
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
	if shape.HeldOut > 0 {
		fmt.Fprintf(say, "%s rows are of the splits val or test, and are not queried\n", humanize.Comma(int64(shape.HeldOut)))
		shape.Rows -= shape.HeldOut
	}
	if p, ok := (*s).(active.ProbCover); ok && p.Classes == 0 {
		p.Classes = shape.Classes
		*s = p
	}
	if *s, err = active.Divide(*s, active.Division(f.Domains)); err != nil {
		return usagef("--domains %q: want one of %s", f.Domains, divisions())
	}
	if shape.Rows > maxTogether && f.subsample == 0 && !poolfile.Separable(*s) {
		return usagef("--pool %s: %s compares all rows, and %s are too many: --subsample %d draws that many", f.pool, f.Strategy, humanize.Comma(int64(shape.Rows)), maxTogether/10)
	}
	if f.subsample > 0 {
		shape.Rows = min(shape.Rows, f.subsample)
	}
	if l, ok := (*s).(active.Limited); ok {
		if note := l.Limits(f.N, shape.Rows, shape.Features); note != "" {
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

// check validates the flags before the file is opened.
func (f *queryFlags) check() (active.Strategy, error) {
	c, err := config.Resolve(config.Spec{Target: config.NoTarget, Preset: config.Preset(f.Preset)})
	if err != nil {
		return nil, settingError(err)
	}
	o := c.Exploration.Options(f.Seed, f.classes)
	o.Weights, o.Radius, o.WithoutBias = active.Gammas(f.Gamma1, f.Gamma2), f.radius, !f.bias
	strategy, err := active.ByName(f.Strategy, o)
	if err != nil {
		return nil, usagef("--strategy %q: want one of %s", f.Strategy, strings.Join(active.Names(), ", "))
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

func (f *querySettings) writePicks(w io.Writer, picks []active.Pick) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	for _, p := range picks {
		var err error
		switch {
		case !f.JSON:
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
