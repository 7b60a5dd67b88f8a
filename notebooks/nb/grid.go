package nb

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/study"
)

// Grid trains every method with every budget, on every target and with the seeds 1 to n, as
// [Train] does, with one progress bar. Without budgets it takes the default budget, without
// targets every domain of the data set. It returns the folders of all runs.
//
// When a run fails, the others go on. The cell says below them which runs failed and why, with the line of
// your code. It returns the folders of the finished runs. It ends with an error only if all runs fail.
//
//	dirs := nb.Grid("mine", []string{"ceg", "fixmatch"}, []string{"1%", "5%"}, nil, 3)
func Grid(name string, methods, budgets, targets []string, n int, change ...func(*Run)) (dirs []string) {
	if budgets == nil {
		budgets = []string{""}
	}
	if targets == nil {
		r := newRun(methods[0], change...)
		targets = r.domains()
	}
	var arms []arm
	for _, method := range methods {
		for _, budget := range budgets {
			for _, target := range targets {
				at := append(slices.Clone(change), Set("target", target))
				if budget != "" {
					at = append(at, Set("budget", budget))
				}
				arms = append(arms, arm{method, at})
			}
		}
	}
	defer showFailures()
	return slices.Concat(trainArms(n, name, arms...)...)
}

// Ablate trains a method, the method without each of the parts, and without all of them, and shows
// [Compare] of these runs:
//
//	nb.Ablate("mine", "ceg", "S_r", "L_eg")
//
// Parts are S_u, S_r, S_d (scores of the query strategy), L_ac, L_eg, M_intra, M_inter (losses) and
// T (the growth of the threshold), as in the paper's ablation table. Other arguments are the number of
// seeds, by default 3, and settings as in [Train]. A part without which no setting changes, or none with an
// effect, is an error. Unless a timing is set, a method's is the published one; a preset has its own.
func Ablate(name, method string, parts ...any) (dirs []string) {
	n, change := 3, []func(*Run){}
	var without []study.Variant
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			n = p
		case func(*Run):
			change = append(change, p)
		case string:
			without = append(without, Must(part(p)))
		default:
			Check(fmt.Errorf("Ablate: a %T, want the name of a part, the number of seeds, or a function on a run such as nb.Set(...)", p))
		}
	}
	change = append(change, func(r *Run) {
		if r.Preset == "" && r.Timing == "" && r.Set["schedule.timing"] == nil {
			r.Timing = config.Published
		}
	})
	arms := []arm{{method, change}}
	base := newRun(method, change...)
	base.needTarget()
	whole := Must(config.Resolve(base.Spec))
	var all []func(*Run)
	for _, v := range without {
		one := func(r *Run) { leaveOut(r, v, whole) }
		r := newRun(method, append(slices.Clone(change), one)...)
		c := Must(config.Resolve(r.Spec))
		idle := r.Idle(c)
		c.Method = whole.Method
		if reflect.DeepEqual(c, whole) {
			idle = "it changes no setting of " + method
		}
		if idle != "" {
			Check(fmt.Errorf("%s: %s", v.Name, idle))
		}
		arms, all = append(arms, arm{method, append(slices.Clone(change), one)}), append(all, one)
	}
	if len(all) > 1 {
		arms = append(arms, arm{method, append(slices.Clone(change), all...)})
	}
	dirs = slices.Concat(trainArms(n, name, arms...)...)
	defer showFailures()
	Compare(dirs...)
	return dirs
}

// part returns the paper's ablation of a part, the last word of its name.
func part(name string) (study.Variant, error) {
	var names []string
	for _, v := range study.Ablations() {
		if v.Method != "" { // other methods
			continue
		}
		short := strings.Trim(v.Name[strings.LastIndex(v.Name, " ")+1:], "()")
		if short == name {
			return v, nil
		}
		names = append(names, short)
	}
	return study.Variant{}, fmt.Errorf("no part %q, want one of %s", name, strings.Join(names, ", "))
}

// leaveOut changes a run of a config to an ablation.
func leaveOut(r *Run, v study.Variant, whole config.Config) {
	for path, value := range v.Set {
		Check(r.Put(path, value))
	}
	if after := whole; v.Apply != nil {
		v.Apply(&after)
		for _, s := range config.Settings() {
			if s.Text(whole) != s.Text(after) {
				Check(r.Put(s.Path, s.Of(after)))
			}
		}
	}
	r.Variant = strings.TrimSpace(r.Variant + " " + v.Name)
}
