package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
)

// Run is one run of a plan: the labels by which tables and figures find it, its
// directory's name, and its settings.
type Run struct {
	Dataset string `json:"dataset"`
	Preset  string `json:"preset"`
	Target  string `json:"target"`
	// Method is the study's; the config of a variant can have another.
	Method string `json:"method"`
	// Variant is the name of a variant or an ablation; empty for the method as
	// it is, and in a sweep.
	Variant string `json:"variant"`
	// Sweep holds the swept values; nil outside sweeps.
	Sweep  map[string]float64 `json:"sweep"`
	Budget string             `json:"budget"`
	Seed   uint64             `json:"seed"`
	// Dir is the name of the run's directory in the study's folder.
	Dir string `json:"dir"`
	// Config are the settings; a plan that is read back has none.
	Config ceg.Config `json:"-"`

	weights string // what pretrained.Open takes
}

// Label is the method with its variant or swept values: "ceg w/o S_u",
// "ceg delta=0.3".
func (r Run) Label() string {
	label := r.Method
	if r.Variant != "" {
		label += " " + r.Variant
	}
	for _, name := range r.sweptNames() {
		label += fmt.Sprintf(" %s=%v", name, r.Sweep[name])
	}
	return label
}

// sweptNames lists what is swept, sorted.
func (r Run) sweptNames() []string { return slices.Sorted(maps.Keys(r.Sweep)) }

// key is equal for runs that differ in nothing that a reader sees.
func (r Run) key() string {
	return fmt.Sprintf("%s, preset %s, target %s, %s, %s labels, seed %d", r.Dataset, r.Preset, r.Target, r.Label(), r.Budget, r.Seed)
}

// Plan is a study's list of runs.
type Plan struct {
	// Format is result.Format.
	Format int    `json:"format"`
	Name   string `json:"name"`
	About  string `json:"about"`
	Runs   []Run  `json:"runs"`
}

var studyName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Plan lists the study's runs: all of the first seed, in the order of the
// blocks, then of the next, so that a study that is stopped early has compared
// everything that its seeds allow. Settings that do not exist, have another type
// or make no sense together are errors; whether they fit the data is seen by the
// run.
func (s Study) Plan() (*Plan, error) {
	if !studyName.MatchString(s.Name) {
		return nil, fieldErrorf([]any{"name"}, "a study is called by small letters, digits and dashes, got %q", s.Name)
	}
	blocks, paths, err := s.blocks()
	if err != nil {
		return nil, err
	}
	p := &Plan{Format: result.Format, Name: s.Name, About: s.About}
	seen := map[string]string{} // key to directory
	for i, b := range blocks {
		runs, err := s.expand(b, paths[i])
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			switch dir, ok := seen[r.key()]; {
			case !ok:
				seen[r.key()] = r.Dir
				p.Runs = append(p.Runs, r)
			case dir != r.Dir:
				return nil, fieldErrorf(paths[i], "%s is already there with other settings: give one of them a variant's name", r.key())
			}
		}
	}
	slices.SortStableFunc(p.Runs, func(a, b Run) int {
		return slices.Index(seedOrder(blocks), a.Seed) - slices.Index(seedOrder(blocks), b.Seed)
	})
	return p, nil
}

// seedOrder lists the seeds of all blocks as they first occur.
func seedOrder(blocks []Block) []uint64 {
	var seeds []uint64
	for _, b := range blocks {
		for _, s := range b.Seeds {
			if !slices.Contains(seeds, s) {
				seeds = append(seeds, s)
			}
		}
	}
	return seeds
}

// expand lists the runs of a block that has its defaults.
func (s Study) expand(b Block, path []any) ([]Run, error) {
	variants, err := b.variants(path)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, method := range b.Methods {
		for _, v := range variants {
			for _, target := range b.Targets {
				c, err := ceg.NewConfig(b.Dataset, target, method, b.Preset)
				if err != nil {
					return nil, &fieldError{path, err}
				}
				if b.Weights != "" { // found when the run begins; its name counts until then
					c.UseWeights(&pretrained.Source{Name: filepath.Base(b.Weights)})
				}
				if err := setAll(&c, s.Set, "set"); err != nil {
					return nil, err
				}
				if path != nil { // else b.Set is the study's
					if err := setAll(&c, b.Set, append(slices.Clone(path), "set")...); err != nil {
						return nil, err
					}
				}
				if err := v.apply(&c); err != nil {
					return nil, err
				}
				r := Run{Dataset: b.Dataset, Preset: string(b.Preset), Target: target, Method: method, Variant: v.name, Sweep: v.sweep, weights: b.Weights}
				for _, r.Budget = range b.Budgets {
					for _, r.Seed = range b.Seeds {
						r.Config = c
						r.Config.Exploration.Budget, r.Config.Seed = r.Budget, r.Seed
						if err := r.Config.Validate(); err != nil {
							return nil, fieldErrorf(path, "%s: %w", r.Label(), err)
						}
						if r.Dir, err = dirName(r.Config); err != nil {
							return nil, &fieldError{path, err}
						}
						runs = append(runs, r)
					}
				}
			}
		}
	}
	return runs, nil
}

// dirName returns the name of a run's directory: what it is in words, and a hash
// of the settings.
func dirName(c ceg.Config) (string, error) {
	sum, err := settingsHash(c)
	if err != nil {
		return "", err
	}
	words := []string{c.Data.Dataset, c.Data.Target, c.Method, string(c.Preset), strings.ReplaceAll(c.Exploration.Budget, "%", "pct"), "s" + strconv.FormatUint(c.Seed, 10), sum}
	return slug(strings.Join(words, "-")), nil
}

// settingsHash returns 40 bits of the SHA-256 of the config as JSON, in
// hexadecimal.
func settingsHash(c ceg.Config) (string, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:5]), nil
}

var notInNames = regexp.MustCompile(`[^a-z0-9._]+`)

// slug makes a file name of a text.
func slug(s string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(s), "-"), "-")
}
