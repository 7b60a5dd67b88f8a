package datasets

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/seed"
)

// splitNames are what people call splits, in lower case. Images that are set apart as unlabelled
// are trained on.
var splitNames = map[string]Split{
	"train": Train, "training": Train, "trainval": Train, "unlabelled": Train, "unlabeled": Train,
	"val": Val, "valid": Val, "validation": Val, "dev": Val, "crossval": Val,
	"test": Test, "testing": Test, "eval": Test, "evaluation": Test, "holdout": Test, "heldout": Test, "pred": Test,
	"publictest": Test, "privatetest": Test,
}

// splitWords matches the words of a name, and splitFillers stand beside a split's name: as in
// seg_train, test_images, id_val or Test1.
var (
	splitWords   = regexp.MustCompile(`[a-z]+`)
	splitFillers = []string{"set", "sets", "data", "dataset", "split", "image", "images", "img", "imgs", "seg", "id", "ood"}
)

// parseSplit returns the split that a folder or a cell of a table names, in any case; ok is false for
// another name.
func parseSplit(name string) (s Split, ok bool) {
	name = strings.NewReplacer("hold-out", "holdout", "hold_out", "holdout", "held-out", "heldout", "held_out", "heldout").Replace(strings.ToLower(strings.TrimSpace(name)))
	if strings.HasPrefix(name, "_") { // as [Unlabelled]
		return s, false
	}
	for _, word := range splitWords.FindAllString(name, -1) {
		split, is := splitNames[cmp.Or(strings.TrimSuffix(word, "set"), word)]
		switch {
		case is && !ok:
			s, ok = split, true
		case is || !slices.Contains(splitFillers, word):
			return Train, false
		}
	}
	return s, ok
}

// withoutPlaceholders takes the classes off held-out images none of whose classes has another image:
// their folders, such as test/unknown, are no classes.
func withoutPlaceholders(list []named) {
	known := make(map[string]bool)
	for _, e := range list {
		if e.Split != Test && e.class != "" {
			known[e.class] = true
		}
	}
	if len(known) == 0 || slices.ContainsFunc(list, func(e named) bool { return e.Split == Test && known[e.class] }) {
		return
	}
	for i := range list {
		if list[i].Split == Test {
			list[i].class = ""
		}
	}
}

// divide gives entries their splits: those that are specified, if there are any, else by the rule of
// splitByRule. Where no image is specified for validation, the rule divides the training images. Images of
// unknown class cannot validate, and are held out.
func (d *Dataset) divide(entries []entry, seedValue uint64, least int, g *grouper) error {
	if d.SplitsBy == "" {
		splitByRule(entries, d.Domains, d.Classes, seedValue, least, g)
		return nil
	}
	if !slices.ContainsFunc(entries, func(e entry) bool { return e.Split != Train }) { // a folder train alone
		d.SplitsBy = ""
		return d.divide(entries, seedValue, least, g)
	}
	var train []entry
	var at []int
	validated := false
	for i := range entries {
		e := &entries[i]
		e.given = e.Split
		switch {
		case e.Split == Train:
			train, at = append(train, *e), append(at, i)
		case e.Split == Val:
			if validated = true; e.class == Unknown {
				e.Split = Test
			}
		}
	}
	if len(train) == 0 {
		return fmt.Errorf("%s: no image is for training", d.SplitsBy)
	}
	if !validated {
		splitByRule(train, d.Domains, d.Classes, seedValue, least, g)
		for k, i := range at {
			entries[i].Split = train[k].Split
		}
	}
	return nil
}

// GivenSplit returns the split that is specified for example i, without the validation images that ledg
// drew; ok is false if none is.
func (d *Dataset) GivenSplit(i int) (s Split, ok bool) {
	if d.given == nil {
		return Train, false
	}
	return d.given[i], true
}

// DescribeSplits says which splits were specified and what they are for, and which classes have
// labels but none to train on; nothing if there is nothing to say.
func (d *Dataset) DescribeSplits(t Truth) (lines []string) {
	var n, unknown [3]int
	labelled, trained := make([]bool, len(d.Classes)), make([]bool, len(d.Classes))
	for i, e := range d.Examples {
		split := e.Split
		if given, ok := d.GivenSplit(i); ok {
			split = given
		}
		n[split]++
		if c := t.Class(i); c == Unknown {
			unknown[split]++
		} else {
			labelled[c], trained[c] = true, trained[c] || e.Split == Train
		}
	}
	if d.SplitsBy != "" {
		line := fmt.Sprintf("%s: train %d", d.SplitsBy, n[Train])
		if n[Val] > 0 {
			line += fmt.Sprintf(", val %d", n[Val])
		}
		if n[Test] > 0 {
			line += fmt.Sprintf(", test %d (held out)", n[Test])
		}
		if n[Val] == 0 && t.Known() > 0 {
			line += "; validation images are drawn from train"
		}
		for _, s := range []Split{Val, Test} {
			if unknown[s] > 0 {
				line += fmt.Sprintf("; %d of %v without a class, which are not used", unknown[s], s)
			}
		}
		lines = append(lines, line)
	}
	for _, name := range d.Domains {
		if s, ok := parseSplit(name); ok && s == Test && d.SplitsBy == "" {
			lines = append(lines, fmt.Sprintf("the %s %s has the name of a split, and is trained on unless it is the target", d.DomainWord(), name))
		}
	}
	for c, name := range d.Classes {
		if labelled[c] && !trained[c] {
			lines = append(lines, name+" has no labelled training image")
		}
	}
	return lines
}

// splitsOf gives images the splits that a table names for them, training to the others.
func splitsOf(ids []string, labels []Label) (list []Split, by string, err error) {
	for _, l := range labels {
		if _, ok := parseSplit(l.Split); !ok && l.Split != "" {
			return nil, "", l.errorf("the split of %s is %q, want train, val or test; rename a column split of another meaning", l.ID, l.Split)
		}
	}
	names, where, err := columnOf(ids, labels, "split", func(l Label) string { return l.Split })
	if err != nil || where == "" {
		return nil, "", err
	}
	list = make([]Split, len(ids))
	for i, name := range names {
		list[i], _ = parseSplit(name)
	}
	return list, "column split of " + where[:max(strings.LastIndexByte(where, ':'), 0)], nil
}

// splitByRule assigns every entry to Train or Val by the rule with which the
// Office-Home lists were made: of the n images of a class in a domain,
// floor(0.9 n) are Train and the rest Val. (A lone image is therefore Val.) Images of
// unknown class are Train, and so are all images of a class in a domain that has
// fewer than least of them, where labels are few: training is not to lose the only
// one. least is 0 where the rule holds for all.
// Which ones is drawn from the seed and the names of the domain and the class
// alone, so other classes and domains may come and go without moving it. Groups are not
// divided; see splitByGroup.
func splitByRule(entries []entry, domains, classes []string, seedValue uint64, least int, g *grouper) {
	if g = g.orBoxes(slices.ContainsFunc(entries, func(e entry) bool { return isBox(e.Example) })); g != nil {
		splitByGroup(entries, seedValue, g)
		return
	}
	cells := make(map[[2]int][]*entry)
	for i := range entries {
		e := &entries[i]
		if e.Split = Train; e.class == Unknown {
			continue
		}
		cell := [2]int{e.Domain, e.class}
		cells[cell] = append(cells[cell], e)
	}
	for cell, members := range cells {
		slices.SortFunc(members, func(a, b *entry) int { return compareExamples(a.Example, b.Example) })
		r := seed.New(seedValue, "train/val split of "+domains[cell[0]]+"/"+classes[cell[1]])
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		train := trainCount(len(members))
		if len(members) < least {
			train = len(members)
		}
		for i, e := range members {
			e.Split = Train
			if i >= train {
				e.Split = Val
			}
		}
	}
}

// trainCount is floor(0.9 n).
func trainCount(n int) int { return n * 9 / 10 }
