// Package speed reads the measurements of scripts/bench.sh and makes a table and a figure of
// them. They are of training steps by ledg's engines and by PyTorch, or of features of images by
// ledg's engines and by ONNX Runtime.
//
// A measurement is one process: a warm-up, then some steps, whose median is the time of a step.
// A round has one measurement of every engine, one after the other, so that other load on the
// machine affects all of them.
package speed

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
	"github.com/ledg-go/ledg/plots"
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

// Measurement is one line of the file: what bench --json prints, and the yardstick.
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

// Read reads measurements, one JSON object a line. An error names the line.
func Read(r io.Reader) ([]Measurement, error) {
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

// Table has a row for every work and, for every engine, the seconds of a step, the largest memory and, where the
// yardstick was measured, too, the engine's steps per second over the yardstick's. Times and ratios are medians over
// the rounds with the lowest and the highest; a ratio is of one round.
func Table(all []Measurement) *result.Table {
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
	if compared && !all[0].Features {
		t.Notes = append(t.Notes, slow(all))
	}
	t.Notes = append(t.Notes, "Measured on "+strings.Join(conditions(all), "; ")+".")
	return t
}

// least is the share of the yardstick's steps per second that no engine should be below anywhere.
const least = 0.5

// slow names the works at which an engine is below least, by the median.
func slow(all []Measurement) string {
	var list []string
	for _, w := range distinct(all, func(m Measurement) Work { return m.Work }) {
		yard := of(all, w, Yardstick)
		for _, e := range distinct(all, func(m Measurement) string { return m.Engine }) {
			if r := ratios(of(all, w, e), yard); len(r) > 0 && median(r) < least {
				list = append(list, fmt.Sprintf("%s at %s (%.2f)", e, w, median(r)))
			}
		}
	}
	if len(list) == 0 {
		return "Nothing is below half of " + Yardstick + "'s speed."
	}
	return "Below half of " + Yardstick + "'s speed: " + strings.Join(list, ", ") + "."
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

// axes are what a step can grow in.
var axes = []struct {
	label string
	of    func(*Work) *int
}{
	{"Images of a domain in a batch", func(w *Work) *int { return &w.PerDomain }},
	{"Side of the images (pixels)", func(w *Work) *int { return &w.Size }},
	{"Width of the network", func(w *Work) *int { return &w.Width }},
}

// Growth returns how the seconds of a step grow with the batch, the images and the width, the
// works being equal in all else: for each the series with most values. Series with only one value
// are left out; if that is everything, it is an error.
func Growth(all []Measurement) ([]plots.Growth, error) {
	var list []plots.Growth
	works := distinct(all, func(m Measurement) Work { return m.Work })
	for _, axis := range axes {
		rest := func(w Work) Work { *axis.of(&w) = 0; return w }
		var best Work
		most := 1
		for _, w := range works {
			n := 0
			for _, other := range works {
				if rest(other) == rest(w) {
					n++
				}
			}
			if n > most {
				best, most = rest(w), n
			}
		}
		if most == 1 {
			continue
		}
		g := plots.Growth{Title: best.title(), XLabel: axis.label}
		for _, e := range distinct(all, func(m Measurement) string { return m.Engine }) {
			c := plots.Curve{Name: e}
			for _, w := range works {
				some := of(all, w, e)
				if rest(w) != best || len(some) == 0 {
					continue
				}
				c.Points = append(c.Points, plots.Point{X: float64(*axis.of(&w)), Values: seconds(some, 1)})
			}
			if len(c.Points) > 0 {
				slices.SortFunc(c.Points, func(a, b plots.Point) int { return cmp.Compare(a.X, b.X) })
				g.Curves = append(g.Curves, c)
			}
		}
		list = append(list, g)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("nothing was measured at several batches, sizes or widths with all else equal")
	}
	return list, nil
}

// title names the constants of a series; its varying number is 0.
func (w Work) title() string {
	parts := []string{w.Net}
	if w.Width > 0 {
		parts = append(parts, fmt.Sprintf("width %d", w.Width))
	}
	if w.Size > 0 {
		parts = append(parts, fmt.Sprintf("%d px", w.Size))
	}
	if w.PerDomain > 0 {
		parts = append(parts, fmt.Sprintf("batch %d", w.PerDomain))
	}
	return strings.Join(parts, ", ")
}
