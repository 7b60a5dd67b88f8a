package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/predict/poolfile"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/seed"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

type probeFlags struct {
	pool, head, text, out string
	classes               int
	seed                  uint64
	json                  bool
}

func newProbeCommand() *cobra.Command {
	var f probeFlags
	cmd := &cobra.Command{
		Use:         "probe --pool FILE",
		Annotations: map[string]string{guide: "features.md"},
		Short:       "Train a linear probe on features, and evaluate it",
		Long: `Train a classifier on the labelled features of a pool file and predict the pool, in less
than a second. Prints the accuracy per domain if the file has the pool's classes.

FILE is a pool file of ledg query with features, labelled_features and labelled_labels.
With labelled_domains, leave-one-domain-out selects the regularisation strength.
Accuracies need labels [N], the pool's classes (-1 if unknown), and domains [N].

  logistic   multinomial logistic regression on features standardised by the pool
  gda        Gaussian discriminant analysis with one covariance; --text adds embeddings
  zero-shot  the class embeddings of --text, unchanged
  zs-lp      trained from these (Silva-Rodriguez et al., CVPR 2024)
  clap       trained from these, with a penalty that keeps it near them

--text is a .npz or .safetensors file with an array text [C, D]: the embeddings of the class
names, by the text tower of the network behind the features (CLIP, SigLIP). Files of
ledg embed --names have it, and need no --text. zero-shot needs no labels.
--out writes a pool file with logits and predictions: ledg query --pool OUT.`,
		Example: `  ledg probe --pool pool.npz --out probed.safetensors
  ledg probe --pool clip.npz --head clap --text names.npz --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.pool, "pool", "", "file of the pool's arrays (required)")
	flags.StringVar(&f.head, "head", "logistic", "classifier: "+strings.Join(poolfile.Heads(), ", "))
	flags.StringVar(&f.text, "text", "", "file of class-name embeddings (default the pool's own)")
	flags.IntVar(&f.classes, "num-classes", 0, "number of classes (default from --text or the labels)")
	bound(flags, classesBounds, "num-classes")
	flags.StringVar(&f.out, "out", "", "pool file with predictions to write, .safetensors")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the batches of zs-lp and clap")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	cmd.MarkFlagRequired("pool")
	return cmd
}

func (f *probeFlags) run(cmd *cobra.Command) error {
	if !slices.Contains(poolfile.Heads(), f.head) {
		return usagef("--head %q: want one of %s", f.head, strings.Join(poolfile.Heads(), ", "))
	}
	if f.text != "" && f.head == "logistic" {
		return usagef("--text does not apply to logistic")
	}
	p, err := poolfile.Probe(cmd.Context(), f.pool, poolfile.ProbeOptions{Head: f.head, Text: f.text, Classes: f.classes}, seed.New(f.seed, "probe"))
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("%w", err)
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := p.WriteFile(cmd.Context(), f.out, f.pool); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if f.json {
		return writeProbed(cli.Raw(cmd.OutOrStdout()), f.head, p)
	}
	if len(p.Scores) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s %v, selected of %d by leave-one-domain-out\n", map[string]string{"logistic": "inverse regularisation strength C =", "gda": "alpha"}[f.head], p.Selected, len(p.Scores))
	}
	if p.Domains == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%d predictions; without an array labels there is no accuracy\n", p.Logits.Rows)
		return nil
	}
	return probedTable(p).Write(cmd.OutOrStdout(), result.Text)
}

// probedTable has the accuracy in each domain.
func probedTable(p *poolfile.Probed) *result.Table {
	t := &result.Table{Columns: []result.Column{{Name: "domain"}, {Name: "samples", Right: true}, {Name: "accuracy", Right: true}}}
	all := result.Tally{}
	for _, d := range p.Domains {
		name := cmp.Or(d.Name, strconv.Itoa(d.Domain))
		if d.Domain < 0 {
			name = "-"
		}
		own := result.Tally{Correct: d.Correct, Total: d.Total}
		all = all.Add(own)
		t.AddRow(name, strconv.Itoa(d.Total), fmt.Sprintf("%.2f", 100*own.Share()))
	}
	if len(p.Domains) > 1 {
		t.AddRow("all", strconv.Itoa(all.Total), fmt.Sprintf("%.2f", 100*all.Share()))
	}
	return t
}

// writeProbed prints the results as JSON.
func writeProbed(w io.Writer, name string, p *poolfile.Probed) error {
	type domain struct {
		Domain   int     `json:"domain"`
		Name     string  `json:"name,omitempty"`
		Samples  int     `json:"samples"`
		Accuracy float64 `json:"accuracy"`
	}
	type score struct {
		Value    float64 `json:"value"`
		Accuracy float64 `json:"accuracy"`
	}
	out := struct {
		Head     string   `json:"head"`
		Chosen   float64  `json:"chosen,omitempty"`
		Tried    []score  `json:"tried,omitempty"`
		Accuracy []domain `json:"accuracy"`
	}{Head: name, Chosen: p.Selected, Accuracy: []domain{}}
	for _, s := range p.Scores {
		out.Tried = append(out.Tried, score{s.Value, s.Accuracy})
	}
	for _, d := range p.Domains {
		out.Accuracy = append(out.Accuracy, domain{d.Domain, d.Name, d.Total, result.Tally{Correct: d.Correct, Total: d.Total}.Share()})
	}
	return json.NewEncoder(w).Encode(out)
}
