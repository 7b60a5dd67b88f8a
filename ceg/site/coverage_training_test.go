package site_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// estimatedPools is the number of pools whose run has an estimate.
const estimatedPools = 40

// trainedPool simulates pool k with a run of ceg on the pool's features, as ledg train on photos
// makes it: preset ledg, which trains with FixMatch. v has all views of the rows.
func (s *simulation) trainedPool(k int, v *datasets.Vectors, errors map[string][]calibration.Reliability) {
	t, d := s.t, s.draw(k)
	dir := t.TempDir()
	root := filepath.Join(dir, "pool.safetensors")
	s.write(root, v, d)
	initial := "uniform"
	if d.herded {
		initial = "maxherding"
	}
	c := configtest.New(t, datasets.FeaturesFile, config.NoTarget, "fixmatch", config.Ledg,
		"exploration.budget", fmt.Sprint(d.budget), "exploration.initial", initial, "seed", uint64(k))
	o := run.Options{Dir: filepath.Join(dir, "run"), Root: root, Backend: "go", CacheDir: dir, NoEstimate: k > estimatedPools}
	fatal.Get(run.Run(t.Context(), c, o))(t)
	p := fatal.Get(predict.OpenWith(run.Options{Dir: o.Dir, Backend: "go"}))(t)
	defer p.Close()
	from := fatal.Get(p.Sources(t.Context(), 0))(t)
	// The run's features, of all images.
	on := &simulation{t: t, p: s.p, classes: s.classes, domains: s.domains, list: s.list}
	on.p.Features.Data = slices.Clone(s.p.Features.Data)
	for i := range on.p.Features.Rows {
		p.Model.Scaler.Apply(site.Row(on.p.Features, i))
	}
	on.intervals(d, from.Own, func(a []int) *head.Linear {
		return fatal.Get(from.Adapt(on.p.Take(a)))(t)
	})
	k0 := fatal.Get(artifact.Read(o.Dir))(t)
	if k0.Estimate != nil {
		on.estimated(d, k0.Estimate, from.Own)
		folds, leftOut := k0.Crossed.Labelled()
		for name, temperature := range map[string]float64{"none": 1, "folds": calibration.FitTemperature(folds), "left-out sites": calibration.FitTemperature(leftOut)} {
			for where, rows := range map[string][]int{"sources": d.rest, "site": d.place} {
				part := on.p.Take(rows)
				z := from.Own.Logits(part.Features)
				l := calibration.Labelled{Class: part.Classes}
				for i := range rows {
					l.Logits = append(l.Logits, site.Row(z, i))
				}
				key := where + ", " + name
				errors[key] = append(errors[key], calibration.Measure(l, temperature))
			}
		}
	}
	s.list = on.list
	fatal.If(t, os.RemoveAll(dir))
}

// write writes the features of a pool and its validation images. Source domains are renumbered.
func (s *simulation) write(path string, v *datasets.Vectors, d drawing) {
	t := s.t
	rows := slices.Concat(d.pool, d.val)
	var x []float32
	var labels, domains, splits []int64
	var ids, names []string
	var scratch []byte
	for n, i := range rows {
		for view := range v.Views {
			one := make([]float32, v.Dim)
			fatal.If(t, v.Read(i, view, one, &scratch))
			x = append(x, one...)
		}
		name := s.domains[s.p.Domains[i]]
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		split := int64(0)
		if n >= len(d.pool) {
			split = 1
		}
		labels, domains, splits, ids = append(labels, int64(s.p.Classes[i])), append(domains, int64(slices.Index(names, name))), append(splits, split), append(ids, s.p.IDs[i])
	}
	var kinds []string
	for _, kind := range v.Views {
		kinds = append(kinds, string(kind))
	}
	entry := func(name string, dtype safetensors.DType, shape []int, values any) safetensors.Entry {
		data := fatal.Get(binary.Append(nil, binary.LittleEndian, values))(t)
		if shape == nil {
			shape = []int{len(data) / dtype.Size()}
		}
		return safetensors.Entry{Name: name, DType: dtype, Shape: shape, Data: data}
	}
	text := func(name string, list []string) safetensors.Entry {
		return entry(name, safetensors.Uint8, nil, []byte(strings.Join(list, "\n")+"\n"))
	}
	var file bytes.Buffer
	err := safetensors.Write(&file, []safetensors.Entry{entry("features", safetensors.Float32, []int{len(rows), len(v.Views), v.Dim}, x),
		entry("labels", safetensors.Int64, nil, labels), entry("domains", safetensors.Int64, nil, domains), entry("splits", safetensors.Int64, nil, splits),
		text("ids", ids), text("class_names", s.classes), text("domain_names", names)}, map[string]string{"views": strings.Join(kinds, ",")})
	if err == nil {
		err = os.WriteFile(path, file.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Every interval that is printed covers the truth in at least 90% of simulated pools also if the
// run trains with FixMatch: on emoji, and on each file of features that LEDG_FEATURES names.
func TestCoverageOfTraining(t *testing.T) {
	testall.Need(t, "it trains ten runs")
	files := [][2]string{{"emoji", filepath.Join("..", "..", "datasets", "emoji", "lite0.npz")}}
	for part := range strings.SplitSeq(os.Getenv("LEDG_FEATURES"), ",") {
		if name, file, ok := strings.Cut(part, "="); ok {
			files = append(files, [2]string{name, file})
		}
	}
	pools := simulatedPools(t, 10)
	var table, calibrated bytes.Buffer
	for _, f := range files {
		s := &simulation{t: t}
		s.p, s.classes, s.domains = features(t, f[1])
		data, _ := fatal.Get2(datasets.Open(datasets.FeaturesFile, f[1], datasets.Options{}))(t)
		all, _ := data.Features()
		v := fatal.Get(all.Open(t.Context(), t.TempDir()))(t)
		errors := map[string][]calibration.Reliability{}
		begun := time.Now()
		for k := range pools {
			s.trainedPool(k+1, v, errors)
			if k == 0 || (k+1)%20 == 0 {
				t.Logf("%s: %d pools after %v", f[0], k+1, time.Since(begun).Round(time.Second))
			}
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		s.tabulate(&table, f[0])
		for _, where := range []string{"sources", "site"} {
			for _, fitted := range []string{"none", "folds", "left-out sites"} {
				var accuracy, confidence, ece, nll float64
				list := errors[where+", "+fitted]
				for _, r := range list {
					n := float64(len(list))
					accuracy, confidence, ece, nll = accuracy+r.Accuracy/n, confidence+r.Confidence/n, ece+r.ECE/n, nll+r.NLL/n
				}
				fmt.Fprintf(&calibrated, "| %s | %s | %s | %.1f | %.1f | %.1f | %.2f | %d |\n", f[0], where, fitted, 100*accuracy, 100*confidence, 100*ece, nll, len(list))
			}
		}
	}
	t.Logf("data, images, temperature fitted on, accuracy, confidence, ECE in %%, NLL, runs:\n%s", calibrated.String())
	publish(t, &table)
}
