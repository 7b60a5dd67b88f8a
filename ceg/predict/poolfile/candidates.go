package poolfile

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets/arrays"
)

// readGroups reads the groups, if there are any: one of each is chosen before a second.
func (s *source) readGroups() (err error) {
	if !s.file.Has(poolGroups) {
		return nil
	}
	c, numbers := &active.Candidates{}, map[string]int{}
	if c.Groups, err = s.groups(poolGroups, numbers); err == nil && s.file.Has(labelledGroups) {
		c.LabelledGroups, err = s.groups(labelledGroups, numbers)
	}
	s.with = c
	return err
}

// groups reads the group of each sample: whole numbers, or names, which get numbers; without a name it is one of its own.
func (s *source) groups(name string, numbers map[string]int) ([]int, error) {
	a, err := s.file.Array(name)
	if err != nil {
		return nil, err
	}
	names, err := arrays.Names(a)
	list := make([]int, len(names))
	for i, text := range names {
		if text == "" {
			text = fmt.Sprint("\x00", name, i) // one of its own
		}
		if _, ok := numbers[text]; !ok {
			numbers[text] = len(numbers)
		}
		list[i] = numbers[text]
	}
	return list, err
}

// inMemory reads the strategy's inputs for at most the given number of rows, 0 for all.
func (s *source) inMemory(strategy active.Strategy, n, most int, r *rand.Rand) ([]active.Pick, error) {
	c, err := s.candidates(strategy.Needs(), n, most)
	if err != nil {
		return nil, err
	}
	if s.with != nil {
		c.Groups, c.LabelledGroups = s.with.Groups, s.with.LabelledGroups
		if s.keep != nil {
			c.Groups = make([]int, len(s.keep))
			for i, row := range s.keep {
				c.Groups[i] = s.with.Groups[row]
			}
		}
		grouped := active.Grouped{Strategy: strategy}
		if r != nil {
			grouped.TieSeed = r.Uint64()
		}
		strategy = grouped
	}
	return s.wrap(s.inFile(strategy.Query(c, n, r)))
}

func (s *source) candidates(needs active.Arrays, n, most int) (*active.Candidates, error) {
	c := &active.Candidates{}
	var class, domain probs
	var f *arrays.Array
	var dim int
	var err error
	// First all shapes, then the data.
	if needs.Has(active.Features) {
		if f, dim, err = s.pool(features, 1); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.ClassProbs) {
		if class, err = s.probs(classes, 2); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.DomainProbs) {
		if domain, err = s.probs(domains, 1); err != nil {
			return nil, err
		}
	}
	if s.rows < 0 {
		if err := s.count(); err != nil {
			return nil, err
		}
	}
	if err := s.checkN(n); err != nil {
		return nil, err
	}
	c.IDs = ids(s.rows)
	if needs.Has(active.Domains) {
		if c.Domains, err = s.labels(poolDomains, s.from, s.rows, MaxClasses, ""); err != nil {
			return nil, err
		}
	}
	if rows := s.remaining(); most > 0 && most < rows {
		if n > most {
			return nil, s.errorf("%d samples queried from %d of its %d", n, most, rows)
		}
		if s.keep == nil {
			s.keep = active.Ties{IDs: c.IDs}.Some(most)
		} else {
			s.keep = take(s.keep, active.Ties{IDs: take(c.IDs, s.keep)}.Some(most))
		}
	}
	if s.keep != nil {
		c.IDs = take(c.IDs, s.keep)
		if c.Domains != nil {
			c.Domains = take(c.Domains, s.keep)
		}
	}
	if needs.Has(active.LabelledFeatures) && !s.unlabelled {
		if err := s.readLabelled(c, needs, dim, class, domain); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.ClassProbs) {
		if err = s.matrix(class, &c.ClassLogits, &c.ClassProbs); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.DomainProbs) {
		if err = s.matrix(domain, &c.DomainLogits, &c.DomainProbs); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.Features) {
		if c.Features, err = s.readFeatures(f, s.rows, dim, s.keep); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (s *source) readLabelled(c *active.Candidates, needs active.Arrays, dim int, class, domain probs) error {
	a, rows, err := s.labelled(dim)
	if err != nil {
		return err
	}
	if needs.Has(active.LabelledCells) {
		if c.LabelledClasses, err = s.labels(labelledLabels, labelledFeatures, rows, class.cols, class.array.Name()); err != nil {
			return err
		}
		if c.LabelledDomains, err = s.labels(labelledDomains, labelledFeatures, rows, domain.cols, domain.array.Name()); err != nil {
			return err
		}
	}
	if needs.Has(active.LabelledClasses) {
		limit, where := MaxClasses, ""
		if needs.Has(active.ClassProbs) {
			limit, where = class.cols, class.array.Name()
		}
		if c.LabelledClasses, err = s.labels(labelledLabels, labelledFeatures, rows, limit, where); err != nil {
			return err
		}
	}
	if needs.Has(active.LabelledDomains) {
		if c.LabelledDomains, err = s.labels(labelledDomains, labelledFeatures, rows, MaxClasses, ""); err != nil {
			return err
		}
	}
	if needs.Has(active.LabelledProbs) {
		if err := s.labelledProbs(c, rows); err != nil {
			return err
		}
	}
	c.LabelledFeatures, err = s.readFeatures(a, rows, dim, nil)
	return err
}

// labelledProbs reads what the class head says about the labelled samples.
func (s *source) labelledProbs(c *active.Candidates, rows int) error {
	own := &source{file: s.file, ctx: s.ctx, rows: rows, from: labelledFeatures}
	p, err := own.probs(labelledClasses, 2)
	if err != nil {
		return err
	}
	return own.matrix(p, &c.LabelledClassLogits, &c.LabelledClassProbs)
}

// count finds the number of rows for a strategy that needs no array of the pool: the first
// existing one.
func (s *source) count() error {
	if name := s.file.First(features, classes+"_logits", classes+"_probs", domains+"_logits", domains+"_probs"); name != "" {
		_, _, err := s.pool(name, 1)
		return err
	}
	_, err := s.file.Array(features) // says which arrays there are
	return err
}

func ids(rows int) []string {
	ids := make([]string, rows)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return ids
}

func take[T any](v []T, index []int) []T {
	out := make([]T, len(index))
	for k, i := range index {
		out[k] = v[i]
	}
	return out
}
