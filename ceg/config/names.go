package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// Lookup returns the setting with a path, or with one of its shorter names: its flag (epochs,
// target, budget, timing) or the end of its path (momentum, per_domain), where only one setting
// has that. The error suggests a similar name or lists the known paths.
func Lookup(name string) (Setting, error) {
	i := slices.IndexFunc(table, func(s Setting) bool { return s.Path == name })
	if i >= 0 {
		return table[i], nil
	}
	var found []Setting
	for _, s := range table {
		if slices.Contains(s.short(), name) {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if near := similar(name); near != "" {
		return Setting{}, Errorf(name, "no such setting; did you mean %s?", near)
	}
	return Setting{}, Errorf(name, "no such setting; there are %s", strings.Join(around(name), ", "))
}

func (s Setting) short() (list []string) {
	if s.Flag != "" {
		list = append(list, s.Flag)
	}
	if _, end, nested := strings.Cut(s.Path, "."); nested && end != s.Flag {
		list = append(list, end)
	}
	return list
}

// around lists the settings of a path's group, or the groups.
func around(path string) (list []string) {
	group, _, _ := strings.Cut(path, ".")
	for _, s := range table {
		if strings.HasPrefix(s.Path, group+".") {
			list = append(list, s.Path)
		}
	}
	if list == nil {
		for _, s := range table {
			first, _, nested := strings.Cut(s.Path, ".")
			if nested {
				first += ".*"
			}
			if !slices.Contains(list, first) {
				list = append(list, first)
			}
		}
	}
	slices.Sort(list)
	return list
}

// similar returns the path or hyperparameter that a mistyped name may mean, "" if none is close.
func similar(name string) (path string) {
	try := nearest(name, &path)
	_, end, nested := strings.Cut(name, ".")
	for _, s := range table {
		try(s.Path, s.Path)
		for _, short := range s.short() {
			try(short, s.Path)
		}
		if _, last, ok := strings.Cut(s.Path, "."); ok && nested && end == last {
			return s.Path // in another group
		}
	}
	for _, p := range Parameters() {
		try(p.Name, p.Name)
	}
	return path
}

// nearest returns a function that tries candidates, and sets found to what the closest one so far means.
func nearest(name string, found *string) (try func(candidate, of string)) {
	best := 1 + min(2, (len(name)+1)/3) // fewer edits than this
	return func(candidate, of string) {
		if d := edits(strings.ToLower(name), strings.ToLower(candidate)); d < best {
			best, *found = d, of
		}
	}
}

// edits is the number of insertions, deletions, substitutions and transpositions of neighbours
// that turn a into b (optimal string alignment distance).
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// fields returns the spec's fields by the paths of their settings.
func (s *Spec) fields() map[string]any {
	return map[string]any{
		"data.dataset": &s.Dataset, "data.target": &s.Target, "method": &s.Method, "exploration.strategy": &s.Strategy,
		"generalization.objective": &s.Objective, "preset": &s.Preset, "schedule.timing": &s.Timing,
		"exploration.budget": &s.Budget, "schedule.epochs": &s.Epochs, "seed": &s.Seed,
		"network.name": &s.Net, "network.width": &s.Width, "network.weights": &s.Weights, "generalization.style_weights": &s.StyleWeights,
	}
}

// Put sets a setting, by any name of [Lookup] or [LookupParameter]. It replaces the spec's value.
// A strategy or an objective replaces the method's own.
func (s *Spec) Put(name string, value any) error {
	paths, err := expand(name, value)
	if err != nil {
		return err
	}
	set := map[string]any{}
	for before, v := range s.Set {
		old, err := expand(before, v)
		if err != nil {
			return err
		}
		for path, v := range old {
			set[path] = v
		}
	}
	for path, v := range paths {
		if path == "method" {
			s.Strategy, s.Objective = "", ""
			delete(set, "exploration.strategy")
			delete(set, "generalization.objective")
		}
		if path == "exploration.strategy" || path == "generalization.objective" {
			method, _ := set["method"].(string)
			method = cmp.Or(method, s.Method)
			if strategy, objective, ok := SplitMethod(method); ok && method != "" {
				delete(set, "method")
				s.Method, set["exploration.strategy"], set["generalization.objective"] = "", strategy, objective
			}
		}
		if field, ok := s.fields()[path]; ok {
			reflect.ValueOf(field).Elem().SetZero()
		}
		set[path] = v
	}
	s.Set = set
	return nil
}

// expand returns the settings, by path, that a name and a value stand for.
func expand(name string, value any) (map[string]any, error) {
	if p, ok := LookupParameter(name); ok {
		n, ok := number(value)
		if !ok {
			return nil, Errorf(name, "%s, want a number", asJSON(value))
		}
		return p.Set(n), nil
	}
	s, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	return map[string]any{s.Path: value}, nil
}
