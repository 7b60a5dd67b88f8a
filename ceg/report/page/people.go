package page

import (
	"fmt"
	"os"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
)

// addPeople adds who labelled, and how far they agree, if people did.
func (r *runPage) addPeople(dir string) error {
	s, note, err := labels.Read(os.DirFS(dir), labels.File, nil, labels.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	annotators := s.Annotators()
	if len(annotators) == 0 {
		return nil
	}
	labelled, unsure := map[string]int{}, map[string]int{}
	for _, l := range s.Labels() {
		labelled[l.By]++
		if l.Unsure {
			unsure[l.By]++
		}
	}
	t := &result.Table{Columns: []result.Column{{Name: "annotator"}, {Name: "current labels", Right: true}, {Name: "unsure", Right: true}}}
	for _, by := range annotators {
		t.AddRow(by, fmt.Sprint(labelled[by]), fmt.Sprint(unsure[by]))
	}
	agreements, differ := s.Agreements()
	for _, a := range agreements {
		t.Notes = append(t.Notes, a.String()+".")
	}
	switch {
	case len(differ) > 0:
		t.Notes = append(t.Notes, fmt.Sprintf("Annotators disagree on %d images; the rule is %s.", len(differ), s.Rule()))
	case len(annotators) == 1:
		t.Notes = append(t.Notes, "One annotator, so agreement cannot be measured.")
	}
	if all, _, _ := s.Count(); all.None > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("None of the classes by their labels: %d of the images.", all.None))
	}
	if note != "" {
		t.Notes = append(t.Notes, note)
	}
	r.People = t
	return nil
}
