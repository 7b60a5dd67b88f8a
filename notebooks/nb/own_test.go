package nb_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	. "github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/notebooks/nb"
)

// Margin × density in seven lines.
var marginDensity = nb.Strategy("margin-density", func(c nb.Pool) []float64 {
	scores := c.Margin()
	for i, density := range c.Density() {
		scores[i] = (1 - scores[i]) * (1 + density)
	}
	return scores
})

// Class-balanced FixMatch in thirteen lines.
var balanced = nb.Objective("balanced-fixmatch", func(s nb.Step) {
	f := s.Forward(Backbone, View{Images: s.In("x_weak")}, View{Images: s.In("u_weak"), NoGrad: true}, View{Images: s.In("u_strong")})
	ce := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[0]), s.In("y")))
	label, sure := PseudoLabel(s.Head(ClassHead, f[1]), 0.95)
	s.PseudoLabels(label, sure)
	hot := Mul(OneHot(label, s.Dims().Classes, sure.DType()), InsertAxes(sure, 1)) // [images, classes]
	perClass := MaxScalar(ReduceSum(hot, 0), 1)                                    // [classes]
	weight := ReduceSum(Div(hot, Reshape(perClass, 1, -1)), 1)                     // [images]
	scale := Div(ReduceAllMean(sure), MaxScalar(ReduceAllSum(weight), 1e-6))       // the weights' mean becomes FixMatch's
	ac := Mul(scale, ReduceAllSum(Mul(weight, CrossEntropy(s.Head(ClassHead, f[2]), label))))
	s.Term("ac", ac)
	s.Minimise("total", Add(ce, ac), Backbone, ClassHead)
}, "x_weak", "y", "u_weak", "u_strong")

// Registered names work in Train, Sweep, studies and Compare.
func TestOwn(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	published := func(r *nb.Run) { r.Timing = "published" }
	dirs := []string{nb.Train("own", marginDensity+"+"+balanced, published), nb.Train("own", balanced)}
	run, err := result.OpenRun(dirs[0])
	if err != nil || run.Config.Arm().Name() != "margin-density + balanced-fixmatch (published schedule)" {
		t.Fatalf("%s, %v", run.Config.Arm().Name(), err)
	}
	if len(run.Config.Exploration.StrategyCode) != 16 || len(run.Config.Generalization.ObjectiveCode) != 16 {
		t.Errorf("codes %q, %q", run.Config.Exploration.StrategyCode, run.Config.Generalization.ObjectiveCode)
	}
	if last := run.Records[len(run.Records)-1].Loss; !slices.ContainsFunc(last, func(x result.Term) bool { return x.Name == "ac" }) || last.Value("total") <= 0 {
		t.Errorf("the records have no loss ac or total: %+v", last)
	}
	if swept := nb.Sweep("own", balanced, "seed", []float64{1}, 1); !slices.Equal(swept, dirs[1:]) {
		t.Errorf("the sweep's runs are %q, want %q", swept, dirs[1:])
	}
	for _, q := range nb.Queries(dirs[0]) {
		if (q.Score != nil) != (q.Round > 0) || q.Score != nil && !(*q.Score >= 0 && *q.Score <= 2) {
			t.Errorf("%+v has the score of another round", q)
		}
	}
	folder := nb.OpenRun(dirs[0])
	if d, err := folder.Queried(nb.FigureOptions{}); err != nil || len(d.Tiles[0].Scores) > 1 || !strings.Contains(d.Note, "score: that of margin-density") {
		t.Errorf("queried %+v, %v", d, err)
	}
	g, err := folder.Figure(t.Context(), "scores", nb.Theme(), nb.Options(nb.FigureOptions{}))
	if err != nil || len(g.Panels) != 4 || g.Panels[0].Plot.Title.Text+g.Panels[0].Plot.X.Label.Text != "Score of margin-density" {
		t.Errorf("scores %+v, %v", g, err)
	}
	nb.QueryScores(dirs[0])
	nb.Compare(dirs...)
	s := nb.Study(study.Parse("study.yaml", []byte("name: own\ndataset: glyphs\ntargets: [photo]\nseeds: [1]\nmethods: [ceg, margin-density+balanced-fixmatch]\n")))
	p := nb.Must(s.Plan())
	nb.MustFinish(p.Run(context.Background(), study.Options{Dir: nb.Dir("study")}))
}

// wide is a network on images.
var wide = nb.Network("wide", nb.OnImages, func(s *nb.Scope, x *nb.Node) *nb.Node {
	return Tanh(s.Conv("conv", x, 2*s.Width, 3, 2))
})

// A network of one's own is trained, and what it computes after an epoch has that epoch's accuracy.
func TestTensors(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	dir := nb.Train("net", "uniform-ce", nb.Set("net", wide), nb.Set("timing", "published"))
	nb.Export(dir, filepath.Join(t.TempDir(), "wide.safetensors"))
	records, last := nb.Records(dir), nb.Tensors(dir, 0, "features")
	if e := nb.Embed(dir); len(last.Columns) != 3+e.Features.Cols || last.Rows[1][3].Text != fmt.Sprint(e.Features.Data[e.Features.Stride]) {
		t.Errorf("%d columns, the first of the second image %q", len(last.Columns), last.Rows[1][3].Text)
	}
	for _, epoch := range []int{2, 3, 2} {
		rows, right := nb.Tensors(dir, epoch, "logits"), 0
		for _, r := range rows.Rows {
			best, most := "", math.Inf(-1)
			for k, c := range rows.Columns[3:] {
				if v, err := strconv.ParseFloat(r[3+k].Text, 64); err != nil || v > most {
					best, most = c.Name, v
				}
			}
			if r[1].Text == "photo" && best == r[2].Text {
				right++
			}
		}
		if want := records[epoch-1].Target(); len(rows.Rows) != len(last.Rows) || right != want.Correct {
			t.Errorf("epoch %d: %d target images are right, want %d of %d", epoch, right, want.Correct, want.Total)
		}
	}
	sum := 0.0
	for _, c := range nb.Tensors(dir, 1, "probabilities").Rows[0][3:] {
		v, _ := strconv.ParseFloat(c.Text, 64)
		sum += v
	}
	if math.Abs(sum-1) > 1e-5 {
		t.Errorf("probabilities sum to %v", sum)
	}
	for want, f := range map[string]func(){
		`"logits" of epoch 4, want one of ["features" "logits" "probabilities"] of 1 to 3, or 0 for the last`: func() { nb.Tensors(dir, 4, "logits") },
		`"logit" of epoch 1`:     func() { nb.Tensors(dir, 1, "logit") },
		"which has no ONNX form": func() { nb.Export(dir, filepath.Join(t.TempDir(), "wide.onnx")) },
	} {
		text := ""
		func() {
			defer func() { text = fmt.Sprint(recover()) }()
			f()
		}()
		if !strings.Contains(text, want) {
			t.Errorf("error %q, want %q", text, want)
		}
	}
}

// ownPower is what no strategy may read, as TestOwnErrors sets it.
var ownPower = 1.0

func TestOwnErrors(t *testing.T) {
	for want, f := range map[string]func(){
		`query strategy "margin-density": the name is taken by a registered query strategy: choose another. In a notebook, declare it once`: func() { nb.Strategy("margin-density", nb.Pool.Entropy) },
		"mine: on 12 random candidates: 1 scores for 12 candidates, want one each":                                                          func() { nb.Strategy("mine", func(nb.Pool) []float64 { return []float64{1} }) },
		"the variable ownPower, which its code reads, is changed outside of it (ownPower = 2)": func() {
			ownPower = 2
			nb.Strategy("mine", func(c nb.Pool) []float64 {
				scores := c.Entropy()
				scores[0] *= ownPower
				return scores
			})
		},
		`input "u_wek", want one of y, r_label, x_weak`:                                   func() { nb.Objective("mine", func(nb.Step) {}, "u_wek") },
		`objective "fixmatch": the name is taken by a built-in objective: choose another`: func() { nb.Objective("fixmatch", func(nb.Step) {}, "y") },
	} {
		text := ""
		func() {
			defer func() { text = fmt.Sprint(recover()) }()
			f()
		}()
		if !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("error %q, want one line with %q", text, want)
		}
	}
}
