package study

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/result"
)

// Job is one run of a plan with its config.
type Job struct {
	result.PlannedRun
	// Config are the settings.
	Config config.Config

	weights model.WeightArgs
}

// ArmName is the display name of the run's arm, with the swept values.
func (j Job) ArmName() string { return j.Config.Arm().Name() + j.SweptText() }

// Plan is a study's list of runs.
type Plan struct {
	Name, About string
	Runs        []Job
}

// File returns the plan in the form of a study's folder, without configs, which the runs'
// folders hold.
func (p *Plan) File() *result.Plan {
	f := &result.Plan{Format: result.Format, Name: p.Name, About: p.About, Arms: map[string]config.Arm{}}
	for _, r := range p.Runs {
		if _, ok := f.Arms[r.ArmKey()]; !ok {
			f.Arms[r.ArmKey()] = r.Config.Arm()
		}
		f.Runs = append(f.Runs, r.PlannedRun)
	}
	return f
}

var studyName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Plan lists the study's runs: the runs of the first seed, in the order of the blocks, then of the
// next, so that a study that stops early has complete comparisons for its seeds. Unknown settings,
// wrong types and contradictions are errors; runs check settings against the data.
func (s Study) Plan() (*Plan, error) {
	if !studyName.MatchString(s.Name) {
		return nil, fieldErrorf([]any{"name"}, "a study is called by small letters, digits and dashes, got %q", s.Name)
	}
	blocks, paths, err := s.blocks()
	if err != nil {
		return nil, err
	}
	p := &Plan{Name: s.Name, About: s.About}
	seen := map[string]string{} // key to directory
	for i, b := range blocks {
		runs, err := s.expand(b, paths[i])
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			switch dir, ok := seen[r.Key()]; {
			case !ok:
				seen[r.Key()] = r.Dir
				p.Runs = append(p.Runs, r)
			case dir != r.Dir:
				return nil, fieldErrorf(paths[i], "%s is already there with other settings: give one of them a variant's name", r.Key())
			}
		}
	}
	order := seedOrder(blocks)
	slices.SortStableFunc(p.Runs, func(a, b Job) int { return order[a.Seed] - order[b.Seed] })
	return p, nil
}

// seedOrder numbers the seeds of all blocks as they first occur.
func seedOrder(blocks []Block) map[uint64]int {
	order := map[uint64]int{}
	for _, b := range blocks {
		for _, s := range b.Seeds {
			if _, ok := order[s]; !ok {
				order[s] = len(order)
			}
		}
	}
	return order
}

// expand lists the runs of a block that has its defaults.
func (s Study) expand(b Block, path []any) ([]Job, error) {
	variants, err := b.variants(path)
	if err != nil {
		return nil, err
	}
	var runs []Job
	for _, method := range b.Methods {
		for _, v := range variants {
			layers := []layer{{[]any{"set"}, s.Set}}
			if path != nil { // else b.Set is the study's
				layers = append(layers, layer{append(slices.Clone(path), "set"), b.Set})
			}
			layers = append(layers, layer{v.path, v.Set})
			set, err := over(layers)
			if err != nil {
				return nil, err
			}
			spec := config.Spec{Dataset: b.Dataset, Method: cmp.Or(v.Method, method), Preset: b.Preset, Weights: b.Weights, Set: set}
			if v.Method == "" {
				spec.Variant = v.Name
			}
			_, objective, _ := config.SplitMethod(spec.Method)
			if o, _ := config.LookupObjective(objective); o.NeedsStyle {
				spec.StyleWeights = cmp.Or(b.StyleWeights, config.NoWeights)
			}
			for _, spec.Target = range b.Targets {
				for _, spec.Budget = range b.Budgets {
					r := Job{PlannedRun: result.PlannedRun{
						Dataset: b.Dataset, Target: spec.Target, Method: method, Variant: v.Name, Sweep: v.sweep, Budget: spec.Budget,
					}, weights: model.WeightArgs{Weights: cmp.Or(b.Weights, config.NetworkFile(set)), Style: spec.StyleWeights}}
					if r.Config, err = config.Resolve(spec); err != nil {
						return nil, blame(err, path, layers)
					}
					if v.Apply != nil {
						v.Apply(&r.Config)
						if err := r.Config.Validate(); err != nil {
							return nil, fieldErrorf(path, "%s: %w", r.Label(), err)
						}
					}
					r.Preset = string(r.Config.Preset)
					for _, r.Seed = range b.Seeds {
						r.Config.Seed = r.Seed
						if r.Dir, err = DirName(r.Config); err != nil {
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

// DirName returns the name of a run's folder: a short description and a hash of the settings.
// Weights count by name until they are opened.
func DirName(c config.Config) (string, error) {
	sum, err := settingsHash(c)
	if err != nil {
		return "", err
	}
	words := []string{c.Data.Dataset, c.Data.Target, c.Method, string(c.Preset), strings.ReplaceAll(c.Exploration.Budget, "%", "pct"), "s" + strconv.FormatUint(c.Seed, 10), sum}
	return slug(strings.Join(words, "-")), nil
}

// settingsHash returns 40 bits of the SHA-256 of the config's identity, in
// hexadecimal.
func settingsHash(c config.Config) (string, error) {
	data, err := c.Identity()
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
