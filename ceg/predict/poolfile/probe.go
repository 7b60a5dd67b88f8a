package poolfile

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// Heads lists the heads of [Probe].
func Heads() []string { return []string{"logistic", "gda", "zero-shot", "zs-lp", "clap"} }

// ProbeOptions are the settings of [Probe].
type ProbeOptions struct {
	// Head is one of Heads; all but logistic and gda need Text.
	Head string
	// Text is the path of a file with an array text [C, D]: class embeddings. Empty is the pool's own.
	Text string
	// Classes is the number of classes; 0 means one more than the largest label, or the rows of
	// text.
	Classes int
}

// Probed is a head fitted on the labelled samples of a pool file, with its logits.
type Probed struct {
	Head head.Head
	// Selected is the selected C of logistic regression, or the selected weight of gda beside
	// text; Scores are the cross-validation results.
	Selected float64
	Scores   []head.Score
	// Logits [N, C] belong to the pool, Labelled [M, C] to the labelled samples.
	Logits, Labelled active.Matrix
	// Domains counts the correct predictions on pool samples of known label, by domain; nil
	// without labels.
	Domains []DomainTally
}

// DomainTally counts correct predictions in a domain; Domain is -1 if domains are unknown, and Name empty where the
// file has no names.
type DomainTally struct {
	Domain, Correct, Total int
	Name                   string
}

// Probe fits a head on the labelled samples of a pool file (labelled_features, labelled_labels,
// and labelled_domains for cross-validation) and computes logits of the pool. With
// labelled_groups [M], no group is in both parts of a fold. The array labels [N], if present,
// holds the classes of the pool, -1 for unknown, and domains [N] their domains; both are used
// only for accuracies. For logistic regression, features are standardised by the pool's
// statistics. r draws the batches of zs-lp and clap.
func Probe(ctx context.Context, path string, o ProbeOptions, r *rand.Rand) (*Probed, error) {
	file, err := arrays.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &source{file: file, ctx: ctx, rows: -1}
	if err := file.CheckRows(); err != nil {
		return nil, err
	}
	if !slices.Contains(Heads(), o.Head) {
		return nil, fmt.Errorf("head %q, want one of %q", o.Head, Heads())
	}
	f, dim, err := s.pool(features, 1)
	if err != nil {
		return nil, err
	}
	byNames := o.Head != "logistic" && o.Head != "gda"
	if byNames && o.Text == "" && file.Has(datasets.NamesArray) {
		o.Text = path // as ledg embed --names writes it
	}
	var text active.Matrix
	if o.Text != "" {
		if text, err = readText(ctx, o.Text, dim); err != nil {
			return nil, err
		}
	} else if byNames {
		return nil, fmt.Errorf("head %s starts from class embeddings: give a file with an array text [C, %d]", o.Head, dim)
	}
	if o.Head == "zero-shot" && !file.Has(labelledFeatures) { // it needs none
		all, err := s.readFeatures(f, s.rows, dim, nil)
		if err != nil {
			return nil, err
		}
		h, err := head.ZeroShot(text)
		if err != nil {
			return nil, s.errorf("%w", err)
		}
		p := &Probed{Head: h, Logits: h.Logits(all)}
		if file.Has(poolLabels) {
			err = p.evaluate(s)
		}
		return p, err
	}
	a, rows, err := s.labelled(dim)
	if err != nil {
		return nil, err
	}
	labels, err := s.labels(labelledLabels, labelledFeatures, rows, MaxClasses, "")
	if err != nil {
		return nil, err
	}
	var own []int
	if file.Has(labelledDomains) {
		if own, err = s.labels(labelledDomains, labelledFeatures, rows, MaxClasses, ""); err != nil {
			return nil, err
		}
	}
	var groups []int
	if file.Has(labelledGroups) {
		if groups, err = s.groups(labelledGroups, map[string]int{}); err != nil {
			return nil, err
		}
		if len(groups) != rows {
			return nil, s.errorf("%s: %d elements, but %s has %d rows", labelledGroups, len(groups), labelledFeatures, rows)
		}
	}
	labelled, err := s.readFeatures(a, rows, dim, nil)
	if err != nil {
		return nil, err
	}
	all, err := s.readFeatures(f, s.rows, dim, nil)
	if err != nil {
		return nil, err
	}
	classes := cmp.Or(o.Classes, text.Rows)
	if classes == 0 {
		for _, h := range labels {
			classes = max(classes, h+1)
		}
	}
	p := &Probed{}
	if err := p.fit(o.Head, labelled, labels, own, groups, classes, all, text, r); err != nil {
		return nil, s.errorf("%w", err)
	}
	p.Logits, p.Labelled = p.Head.Logits(all), p.Head.Logits(labelled)
	if file.Has(poolLabels) {
		return p, p.evaluate(s)
	}
	return p, nil
}

const poolLabels = "labels" // of the pool, -1 for unknown

// readText reads class embeddings.
func readText(ctx context.Context, path string, dim int) (m active.Matrix, err error) {
	file, err := arrays.Open(path)
	if err != nil {
		return m, err
	}
	defer file.Close()
	a, err := file.Array("text")
	if err != nil {
		return m, err
	}
	rows, cols, err := a.Matrix()
	if err != nil {
		return m, err
	}
	if cols != dim {
		return m, a.Errorf("%d columns, but %s has %d", cols, features, dim)
	}
	s := &source{file: file, ctx: ctx}
	return s.readFeatures(a, rows, cols, nil)
}

func (p *Probed) fit(name string, labelled active.Matrix, labels, domains, groups []int, classes int, all, text active.Matrix, r *rand.Rand) error {
	switch name {
	case "logistic":
		o := head.Options{Domains: domains, Groups: groups}
		o.Mean, o.Scale = head.Moments(all)
		h, err := head.Fit(labelled, labels, classes, o)
		if err != nil {
			return err
		}
		p.Head, p.Selected, p.Scores = h, h.C, h.Scores
	case "gda":
		h, err := head.FitGDA(labelled, labels, classes, head.GDAOptions{Text: text, Domains: domains, Groups: groups})
		if err != nil {
			return err
		}
		p.Head, p.Selected, p.Scores = h, h.Alpha, h.Scores
	case "zero-shot":
		h, err := head.ZeroShot(text)
		if err != nil {
			return err
		}
		p.Head = h
	default:
		h, err := head.Probe(labelled, labels, text, head.ProbeOptions{Constrained: name == "clap"}, r)
		if err != nil {
			return err
		}
		p.Head = h
	}
	return nil
}

// evaluate counts correct predictions by domain.
func (p *Probed) evaluate(s *source) error {
	a, err := s.file.Array(poolLabels)
	if err != nil {
		return err
	}
	truth, err := arrays.Ints(a)
	if err != nil {
		return err
	}
	if len(truth) != s.rows {
		return a.Errorf("%d elements, but %s has %d rows", len(truth), features, s.rows)
	}
	var domains []int
	if s.file.Has(poolDomains) {
		if domains, err = s.labels(poolDomains, features, s.rows, MaxClasses, ""); err != nil {
			return err
		}
	}
	var names []string
	if s.file.Has("domain_names") { // as in files of ledg embed
		if a, err = s.file.Array("domain_names"); err == nil {
			names, err = arrays.Strings(a)
		}
		if err != nil {
			return err
		}
	}
	tallies := map[int]*DomainTally{}
	for i, class := range p.Predictions() {
		if truth[i] < 0 {
			continue
		}
		d := -1
		if domains != nil {
			d = domains[i]
		}
		if tallies[d] == nil {
			if tallies[d] = (&DomainTally{Domain: d}); d >= 0 && d < len(names) {
				tallies[d].Name = names[d]
			}
		}
		tallies[d].Total++
		if class == truth[i] {
			tallies[d].Correct++
		}
	}
	for _, t := range tallies {
		p.Domains = append(p.Domains, *t)
	}
	slices.SortFunc(p.Domains, func(a, b DomainTally) int { return a.Domain - b.Domain })
	return nil
}

// Predictions returns the class with the largest logit of every pool sample; ties go to the
// lower class.
func (p *Probed) Predictions() []int {
	out := make([]int, p.Logits.Rows)
	for i := range out {
		z := p.Logits.Data[i*p.Logits.Cols : (i+1)*p.Logits.Cols]
		for c, v := range z {
			if v > z[out[i]] {
				out[i] = c
			}
		}
	}
	return out
}

// WriteFile writes a pool file for [Query], .safetensors: the arrays of pool with the head's
// class_logits and labelled_class_logits in place of its class outputs, and predictions [N].
func (p *Probed) WriteFile(ctx context.Context, path, pool string) error {
	file, err := arrays.Open(pool)
	if err != nil {
		return err
	}
	defer file.Close()
	var entries []safetensors.Entry
	s, numbers := &source{file: file}, map[string]int{}
	for _, name := range file.Names() {
		switch name {
		case classes + "_logits", classes + "_probs", labelledClasses + "_logits", labelledClasses + "_probs", "predictions":
			continue
		case poolGroups, labelledGroups:
			list, err := s.groups(name, numbers)
			if err != nil {
				return err
			}
			entries = append(entries, safetensors.IntEntry(name, list))
			continue
		}
		e, err := entryOf(ctx, file, name)
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	entries = append(entries, floatEntry(classes+"_logits", p.Logits), safetensors.IntEntry("predictions", p.Predictions()))
	if p.Labelled.Rows > 0 {
		entries = append(entries, floatEntry(labelledClasses+"_logits", p.Labelled))
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := safetensors.Write(out, entries, nil); err != nil {
		out.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return out.Close()
}

// entryOf copies an array: a matrix of floats as float32, whole numbers as int64.
func entryOf(ctx context.Context, file *arrays.File, name string) (e safetensors.Entry, err error) {
	a, err := file.Array(name)
	if err != nil {
		return e, err
	}
	if a.Type().IsFloat() {
		a = a.View(0) // the clean one of several
		rows, cols, err := a.Matrix()
		if err != nil {
			return e, err
		}
		m := active.Matrix{Rows: rows, Cols: cols, Data: make([]float32, 0, rows*cols)}
		err = arrays.Blocks(ctx, a, func(_ int, block []float32) error {
			m.Data = append(m.Data, block...)
			return nil
		})
		return floatEntry(name, m), err
	}
	v, err := arrays.Ints(a)
	return safetensors.IntEntry(name, v), err
}

func floatEntry(name string, m active.Matrix) safetensors.Entry {
	return safetensors.FloatEntry(name, []int{m.Rows, m.Cols}, m.Data)
}
