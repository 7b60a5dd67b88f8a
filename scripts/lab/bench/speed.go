package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// The engines that the others are compared with, of scripts/lab/yardstick: for training steps, and for features.
const (
	Yardstick = "pytorch"
	Reference = "python"
)

// yardstick is the engine that others are compared with.
func (w Work) yardstick() string {
	if w.Features {
		return Reference
	}
	return Yardstick
}

// Work is what a step computes.
type Work struct {
	Net string `json:"net"`
	// Features says that the features of an image are computed: no step, and no width or batch.
	Features bool `json:"features"`
	Width    int  `json:"width"`
	// Size is the side of the images in pixels.
	Size int `json:"size"`
	// PerDomain is the number of images of each domain in a subset's batch.
	PerDomain int    `json:"per_domain"`
	Precision string `json:"precision"`
}

// String describes w as the flags of command bench.
func (w Work) String() string {
	if w.Features {
		return fmt.Sprintf("%s --size %d", w.Net, w.Size)
	}
	s := fmt.Sprintf("%s --width %d --size %d", w.Net, w.Width, w.Size)
	if w.PerDomain != 16 {
		s += fmt.Sprintf(" --per-domain %d", w.PerDomain)
	}
	if w.Precision != "" && w.Precision != "tf32" && w.Precision != "float32" {
		s += " --precision " + w.Precision
	}
	return s
}

// Measurement is one line of the file: what bench --json prints, and the yardstick. It is of one
// process: a warm-up, then some steps, whose median is the time of a step. A round has one
// measurement of every engine, so that other load on the machine affects all of them.
type Measurement struct {
	Work
	// Round is the turn of the engines that it belongs to, from 1.
	Round int `json:"round"`
	// Engine is what computed: "go", "xla:cpu", "pytorch".
	Engine string `json:"backend"`
	// Version is the engine's: "compute v0.1.14", "PJRT 0.115", "2.15.0+cpu".
	Version string `json:"version"`
	// Machine says what the processor is; empty where the engine does not tell.
	Machine string `json:"machine"`
	Threads int    `json:"threads"`
	// StepSeconds is the median of Steps; of features, the seconds of an image.
	StepSeconds float64 `json:"step_seconds_median"`
	Steps       int     `json:"steps"`
	// CompileSeconds is what the first step took longer.
	CompileSeconds float64 `json:"compile_seconds"`
	// PeakMemoryBytes is the process' largest resident memory.
	PeakMemoryBytes float64 `json:"peak_memory_bytes"`
}

// readSpeed reads measurements, one JSON object a line. An error names the line.
func readSpeed(r io.Reader) ([]Measurement, error) {
	var all []Measurement
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		var m Measurement
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case m.Net == "" || m.Engine == "" || m.Size < 1 || m.Round < 1 || !m.Features && (m.Width < 1 || m.PerDomain < 1):
			return nil, fmt.Errorf("line %d: it does not say what was measured (net, backend, width, size, per_domain, round)", n)
		case len(all) > 0 && m.Features != all[0].Features:
			return nil, fmt.Errorf("line %d: features of images and training steps are in one file", n)
		case !(m.StepSeconds > 0) || math.IsInf(m.StepSeconds, 0):
			return nil, fmt.Errorf("line %d: a step took %v seconds", n, m.StepSeconds)
		}
		if m.Precision == "tf32" { // float32 on a CPU, which is all that the yardstick has
			m.Precision = "float32"
		}
		all = append(all, m)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no measurements")
	}
	return all, nil
}

// distinct returns the different values of a key in the order of the measurements.
func distinct[K comparable](all []Measurement, key func(Measurement) K) []K {
	var keys []K
	for _, m := range all {
		if k := key(m); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// of returns the measurements of an engine at a work, round after round.
func of(all []Measurement, w Work, engine string) []Measurement {
	var some []Measurement
	for _, m := range all {
		if m.Work == w && m.Engine == engine {
			some = append(some, m)
		}
	}
	return some
}

// speedTable has a row for every work and, for every engine, the seconds of a step, the largest memory and, where the
// yardstick was measured, too, the engine's steps per second over the yardstick's. Times and ratios are medians over
// the rounds with the lowest and the highest; a ratio is of one round.
func speedTable(all []Measurement) *result.Table {
	yardstick, title, unit, rate, scale := all[0].yardstick(), "Training steps", "s a step", "steps", 1.
	if all[0].Features {
		title, unit, rate, scale = "Features of images", "ms an image", "images", 1000
	}
	engines := distinct(all, func(m Measurement) string { return m.Engine })
	if i := slices.Index(engines, yardstick); i >= 0 { // the yardstick last
		engines = append(slices.Delete(engines, i, i+1), yardstick)
	}
	compared := slices.Contains(engines, yardstick)
	t := &result.Table{Title: title, Columns: []result.Column{{Name: "network"}}}
	for _, e := range engines {
		t.Columns = append(t.Columns, result.Column{Name: e + ", " + unit, Right: true})
		if compared && e != yardstick {
			t.Columns = append(t.Columns, result.Column{Name: e + " / " + yardstick + ", " + rate + " per second", Right: true})
		}
		t.Columns = append(t.Columns, result.Column{Name: e + ", peak memory", Right: true})
	}
	fewest, most := math.MaxInt, 0
	for _, w := range distinct(all, func(m Measurement) Work { return m.Work }) {
		row := []result.Cell{{Text: w.String()}}
		yard := of(all, w, yardstick)
		for _, e := range engines {
			some := of(all, w, e)
			fewest, most = min(fewest, len(some)), max(most, len(some))
			row = append(row, result.Cell{Text: spread("%.3g", seconds(some, scale))})
			if compared && e != yardstick {
				row = append(row, result.Cell{Text: spread("%.2f", ratios(some, yard)), Bold: true})
			}
			memory := "-"
			if len(some) > 0 {
				most := slices.MaxFunc(some, func(a, b Measurement) int { return cmp.Compare(a.PeakMemoryBytes, b.PeakMemoryBytes) })
				memory = fmt.Sprintf("%.2f GB", 1e-9*most.PeakMemoryBytes)
			}
			row = append(row, result.Cell{Text: memory})
		}
		t.Rows = append(t.Rows, row)
	}
	rounds := fmt.Sprintf("%d rounds", most)
	if fewest < most {
		rounds = fmt.Sprintf("%d to %d rounds", fewest, most)
	}
	t.Notes = append(t.Notes, "Medians of "+rounds+" in which the engines take turns, with the lowest and the highest; memory is the highest.")
	t.Notes = append(t.Notes, "Measured on "+strings.Join(conditions(all), "; ")+".")
	return t
}

// median of one or more values.
func median(values []float64) float64 {
	values, n := slices.Sorted(slices.Values(values)), len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// seconds returns the times of a step, in another unit.
func seconds(some []Measurement, scale float64) []float64 {
	values := make([]float64, len(some))
	for i, m := range some {
		values[i] = scale * m.StepSeconds
	}
	return values
}

// ratios returns, for every round that has both, the yardstick's time over the engine's.
func ratios(some, yard []Measurement) []float64 {
	var values []float64
	for _, m := range some {
		for _, y := range yard {
			if y.Round == m.Round {
				values = append(values, y.StepSeconds/m.StepSeconds)
			}
		}
	}
	return values
}

// spread formats the median of numbers with the lowest and the highest: "0.31 (0.30, 0.33)".
func spread(format string, values []float64) string {
	n := len(values)
	if n == 0 {
		return "-"
	}
	text := fmt.Sprintf(format, median(values))
	if n > 1 {
		text += fmt.Sprintf(" ("+format+", "+format+")", slices.Min(values), slices.Max(values))
	}
	return text
}

// conditions lists the machines and, for every engine, its versions and numbers of threads.
func conditions(all []Measurement) []string {
	list := distinct(all, func(m Measurement) string { return m.Machine })
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	type build struct {
		engine, version string
		threads         int
	}
	for _, b := range distinct(all, func(m Measurement) build { return build{m.Engine, m.Version, m.Threads} }) {
		text := b.engine
		if b.version != "" {
			text += " (" + b.version + ")"
		}
		list = append(list, fmt.Sprintf("%s with %d threads", text, b.threads))
	}
	return list
}
