package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/regular"
)

// planSuffix ends the name of a plan's file in a study's folder, packedSuffix the name of a plan with
// collected runs.
const planSuffix, packedSuffix = ".study.json", ".study.json.zst"

// PlanFile returns the file name of a plan.
func PlanFile(name string) string { return name + planSuffix }

// PackedPlanFile returns the file name of a plan with collected runs.
func PackedPlanFile(name string) string { return name + packedSuffix }

// Plan is a study's list of runs, as stored in its folder.
type Plan struct {
	// Format is the format version.
	Format int    `json:"format"`
	Name   string `json:"name"`
	About  string `json:"about"`
	// Revisions are the revisions of the programs that have worked on the study (see the function
	// Revision); older plans have none.
	Revisions []string `json:"revisions,omitempty"`
	// Arms are the arms of the runs by their ArmKey; plans of older versions have none.
	Arms map[string]config.Arm `json:"arms,omitempty"`
	Runs []PlannedRun          `json:"runs"`
}

// PlannedRun is one run of a plan: its folder's name, and the labels by which tables and figures
// select it.
type PlannedRun struct {
	Dataset string `json:"dataset"`
	Preset  string `json:"preset"`
	Target  string `json:"target"`
	// Method is the study's name of the method; the config of a variant may have another.
	Method string `json:"method"`
	// Variant is the name of a variant or an ablation; empty for the unmodified method, and in a
	// sweep.
	Variant string `json:"variant"`
	// Sweep holds the swept values; nil outside sweeps.
	Sweep  map[string]float64 `json:"sweep"`
	Budget string             `json:"budget"`
	Seed   uint64             `json:"seed"`
	// Dir is the name of the run's folder in the study's folder.
	Dir string `json:"dir"`
}

// Label returns the method with its variant or swept values: "ceg w/o S_u", "ceg delta=0.3".
func (r PlannedRun) Label() string {
	label := r.Method
	if r.Variant != "" {
		label += " " + r.Variant
	}
	for _, name := range r.Swept() {
		label += fmt.Sprintf(" %s=%v", name, r.Sweep[name])
	}
	return label
}

// ArmKey is equal for the runs of one arm of a study.
func (r PlannedRun) ArmKey() string {
	return fmt.Sprintf("%s, preset %s, %s", r.Dataset, r.Preset, r.Label())
}

// Swept lists the swept parameters, sorted.
func (r PlannedRun) Swept() []string { return slices.Sorted(maps.Keys(r.Sweep)) }

// SweptText writes the swept values behind the name of an arm: ", delta = 0.3".
func (r PlannedRun) SweptText() (text string) {
	for _, name := range r.Swept() {
		text += fmt.Sprintf(", %s = %v", name, r.Sweep[name])
	}
	return text
}

// Key is equal for runs with the same labels.
func (r PlannedRun) Key() string {
	return fmt.Sprintf("%s, preset %s, target %s, %s, %s labels, seed %d", r.Dataset, r.Preset, r.Target, r.Label(), r.Budget, r.Seed)
}

// Write writes the plan to a study's folder, unless it is there already.
func (p *Plan) Write(dir string) error {
	path := filepath.Join(dir, PlanFile(p.Name))
	data, err := p.text()
	if err != nil {
		return err
	}
	if old, err := regular.Read(path, maxFile); err == nil && string(old) == string(data) {
		return nil
	}
	return regular.Write(path, data)
}

// WritePacked writes the plan, compressed, to a folder of collected runs, where it replaces one
// that is not compressed.
func (p *Plan) WritePacked(dir string) error {
	data, err := p.text()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, PackedPlanFile(p.Name))
	if old, err := ReadPacked(path); err != nil || string(old) != string(data) {
		if err := writePacked(path, data); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, PlanFile(p.Name))); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (p *Plan) text() ([]byte, error) {
	data, err := json.MarshalIndent(p, "", " ")
	return append(data, '\n'), err
}

// ErrNoPlans is the error of a folder without plans.
var ErrNoPlans = errors.New("not a study's folder")

// ReadPlans reads the named plans in a study's folder, or all if names is empty. A folder
// without plans is ErrNoPlans.
func ReadPlans(dir string, names ...string) ([]*Plan, error) {
	if len(names) == 0 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name, packed := strings.CutSuffix(e.Name(), ".zst")
			name, ok := strings.CutSuffix(name, planSuffix)
			if ok && !(packed && slices.Contains(names, name)) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s is %w: it has no *%s; ledg study run makes one", dir, ErrNoPlans, planSuffix)
		}
	}
	var list []*Plan
	for _, name := range names {
		p := new(Plan)
		if err := p.read(dir, name); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s has no study %q (%w)", dir, name, fs.ErrNotExist)
			}
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		p.Format = Format
		list = append(list, p)
	}
	return list, nil
}

// read reads a plan, compressed or not.
func (p *Plan) read(dir, name string) error {
	err := readFormatted(os.DirFS(dir), PlanFile(name), maxFile, p)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := ReadPacked(filepath.Join(dir, PackedPlanFile(name)))
	if err == nil {
		err = decodeFormatted(data, p)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", PackedPlanFile(name), err)
	}
	return nil
}
