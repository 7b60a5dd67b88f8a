package nb

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/plot"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/plots"
)

// Every exported function works in a folder outside the checkout, as the guide says, and errors are one
// line.
func TestElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("the command is not built with -short")
	}
	root := Must(filepath.Abs(filepath.Join("..", "..")))
	functions := exported(t)
	t.Setenv("GOCACHE", strings.TrimSpace(string(Must(exec.Command("go", "env", "GOCACHE").Output())))) // not in the new one
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", "")
	t.Setenv(checkout, root)
	t.Chdir(t.TempDir())

	var runs []string
	var dir, photos, features, address, waiting string
	var site SiteOptions
	var class func(string) string
	var fig Fig
	var table *result.Table
	m := func() *Image {
		data, _ := Data("folder", photos)
		return Must(data.Image(0))
	}
	of := func(dataset, root string) func(*Run) {
		return func(r *Run) { r.Dataset, r.Root, r.Target, r.Budget = dataset, root, "photo", "6" }
	}
	tiny := func(r *Run) { of("folder", photos)(r) }
	r := rand.New(rand.NewPCG(1, 1))
	theme := Theme()
	curve := func(values ...float64) Curve {
		c := Curve{Name: fmt.Sprint(values)}
		for i, v := range values {
			c.Points = append(c.Points, Point{X: float64(i + 1), Values: []float64{v, v + 1, v + 2}})
		}
		return c
	}
	budget := plots.BudgetData{Targets: []plots.Target{{Name: "photo", Curves: []Curve{curve(40, 50), curve(30, 45)}}}, Ticks: map[float64]string{}}
	sweep := plots.SensitivityData{Sweeps: []plots.Sweep{{XLabel: "delta", Curves: []Curve{curve(40, 50)}}}}
	own := study.Study{Name: "s", Block: study.Block{Dataset: "glyphs", Targets: []string{"photo"}, Seeds: []uint64{1}, Methods: []string{"uniform-ce"}}}
	for _, x := range []struct {
		name string
		call func()
	}{
		{"Must", func() { Must(1, nil) }}, {"Check", func() { Check(nil) }},
		{"Dir", func() { photos = Dir("photos") }},
		{"SaveImages", func() {
			class = SaveImages("glyphs", 3, func(domain, class string) string {
				if class > "1" {
					return ""
				}
				return filepath.Join(photos, domain, class)
			})
		}},
		{"IsQuick", func() { IsQuick() }}, {"Theme", func() { Theme() }},
		{"Set", func() { Set("tau", 0.8) }}, {"Markdown", func() { Markdown("text") }}, {"Strategies", Strategies},
		{"Config", func() { Config(config.Spec{Dataset: "glyphs", Target: "photo", Method: "ceg"}) }},
		{"Strategy", func() { Strategy("elsewhere", Pool.Entropy) }},
		{"Objective", func() { Objective("elsewhere-loss", objectiveStep, "x_weak", "y") }},
		{"Train", func() { dir = Train("mine", "ceg", tiny, Set("timing", "published")) }},
		{"Seeds", func() { runs = Seeds(2, "mine", "uniform-ce", tiny) }}, {"Sweep", func() { Sweep("mine", "uniform-ce", "epochs", []float64{3}, 1, tiny) }},
		{"Grid", func() { Grid("mine", []string{"uniform-ce"}, nil, []string{"photo"}, 1, tiny) }}, {"Ablate", func() { Ablate("mine", "ceg", "T", 1, tiny) }},
		{"Compare", func() { Compare(runs...) }}, {"LearningCurves", func() { fig = LearningCurves(runs...) }},
		{"PerTarget", func() { PerTarget(runs...) }}, {"Dots", func() { Dots(runs...) }}, {"Frame", func() { Frame(runs...) }},
		{"Rows.CSV", func() { Frame(runs...).CSV("a.csv") }},
		{"Width", func() { Width("84mm") }}, {"Font", func() { Font("Serif") }}, {"FontSize", func() { FontSize(8) }},
		{"Look", func() { Look() }}, {"Rename", func() { Rename(nil) }}, {"Title", func() { Title("") }}, {"Legend", func() { Legend("below") }},
		{"ErrorBars", func() { Show(fig, ErrorBars) }}, {"YRange", func() { YRange(0, 1) }}, {"Side", func() { Side(fig, fig) }}, {"Plot", func() { Plot(plot.New()) }},
		{"Metric", func() { Metric("elsewhere-metric", func(Confusion) float64 { return 0 }) }},
		{"Save", func() { Save(fig, "a.svg", Width("84mm")) }}, {"Show", func() { Show(fig.draw(theme)) }},
		{"NewTable", func() { table = NewTable("a", "b") }}, {"Table", func() { Table(table, nil) }},
		{"Tables", func() { Tables([]*result.Table{table}, nil) }}, {"Folded", func() { Folded("more", []*result.Table{table}, nil) }},
		{"Data", func() { Data("folder", photos) }}, {"Describe", func() { Describe("folder", photos) }}, {"Sample", func() { Sample("folder", photos) }},
		{"Images", func() { Images([]Tile{{Image: m().ToImage(), Class: "0"}}) }},
		{"ContactSheet", func() { ContactSheet(ContactData{Tiles: []Tile{{Image: m().ToImage()}}, Columns: 1}) }},
		{"Epochs", func() { Epochs(EpochsData{Curves: []Curve{curve(40, 50)}}) }},
		{"Weak", func() { Weak(m(), r) }}, {"Strong", func() { Strong(m(), r) }}, {"MixUp", func() { MixUp(m(), m(), 0.5) }},
		{"Records", func() { Records(dir) }}, {"Queries", func() { Queries(dir) }}, {"Result", func() { Result(dir) }}, {"OpenRun", func() { OpenRun(dir) }},
		{"Network", func() {
			Network("elsewhere-net", OnImages, func(s *Scope, x *Node) *Node { return s.Conv("a", x, 4, 3, 2) })
		}},
		{"Export", func() { Export(dir, "net.safetensors") }}, {"Tensors", func() { Tensors(dir, 1, "logits") }},
		{"Embed", func() { Embed(dir) }}, {"Choose", func() { Choose(dir, "entropy", 2) }}, {"ReliableSet", func() { ReliableSet(dir, 0.5) }},
		{"TSNE", func() { Save(TSNE(dir), "tsne.svg") }}, {"Emoji", func() { Describe("features", Emoji()) }}, {"Clothes", func() { Describe("features", Clothes()) }},
		{"Queried", func() { Queried(dir, 4) }}, {"QueryScores", func() { QueryScores(dir) }}, {"Report", func() { Report(dir); reportPage(dir) }}, {"LabelCounts", func() { LabelCounts(dir) }},
		{"Options", func() { Options(FigureOptions{}) }}, {"Figure", func() { Figure(OpenRun(dir), "epochs", FigureOptions{}) }},
		{"Study", func() { own = Study(own, nil) }},
		{"MustFinish", func() { MustFinish(Must(own.Plan()).Run(t.Context(), study.Options{Dir: "study"})) }},
		{"PaperRecords", func() { PaperRecords("features-pacs") }},
		{"Differences", func() {
			Differences(PaperRecords("announced/few-labels-pacs"), TableOptions{Baseline: "logistic MaxHerding"}, "21")
		}},
		{"LabelSavings", func() { LabelSavings(budget, budget.Targets[0].Curves[0].Name, budget.Targets[0].Curves[1].Name, 0) }},
		{"SweepTable", func() { SweepTable(sweep, nil) }},
		{"Extract", func() { features = Extract(photos) }},
		{"Train on photos", func() { dir = Train("photos", "logistic", of("features", features)) }},
		{"Predict", func() { Predict(dir, filepath.Join(photos, "photo"), "a.jsonl") }}, {"Contact", func() { Contact("a.jsonl", 2) }},
		{"Classify", func() { Classify(dir, Must(filepath.Glob(filepath.Join(photos, "photo", "0", "*")))...) }},
		{"Label", func() {
			waiting = Train("asked", "logistic", of("features", features), Set("exploration.oracle", "ask"))
			address = Label(waiting)
		}},
		{"Annotate", func() { Annotate(address, class) }}, {"EndLabel", func() { EndLabel(waiting) }},
		{"Site", func() {
			site.Dir, site.Images, site.Adapt, site.Audit, site.Seed, site.Run = "north", filepath.Join(photos, "photo"), 2, 2, 1, ceg.Options{Dir: dir, Backend: "go"}
			site.Query = true
			Site(site)
		}},
		{"AdaptationSet", func() { AdaptationSet("north") }}, {"Wilson", func() { Wilson(30, 50) }},
	} {
		functions = slices.DeleteFunc(functions, func(name string) bool { return name == x.name })
		func() {
			defer func() {
				if err := recover(); err != nil {
					t.Errorf("%s: %v", x.name, err)
				}
			}()
			x.call()
		}()
	}
	if len(functions) > 0 {
		t.Errorf("not called: %q", functions)
	}
	if list := Must(filepath.Glob(filepath.Join("runs", "mine", "*"))); len(list) == 0 {
		t.Error("the runs are not in runs/mine beside the notebook")
	}
	for name, f := range map[string]func(){
		"Label": func() { Label("nothing") }, "EndLabel": func() { EndLabel("nothing") }, "AdaptationSet": func() { AdaptationSet("nothing") },
		"MustFinish": func() { MustFinish(study.Report{Failed: []study.Failure{{Err: errors.New("no power")}}}, nil) },
	} {
		if text := panics(t, f); text == "" || strings.Contains(text, "\n") {
			t.Errorf("%s: error %q, want one line", name, text)
		}
	}
}

// objectiveStep is cross-entropy.
func objectiveStep(s Step) {
	f := s.Forward(objective.Backbone, objective.View{Images: s.In("x_weak")})
	s.Minimise("total", graph.ReduceAllMean(objective.CrossEntropy(s.Head(objective.ClassHead, f[0]), s.In("y"))), objective.Backbone, objective.ClassHead)
}

// exported lists the exported functions and methods of the package.
func exported(t *testing.T) (list []string) {
	t.Helper()
	for _, file := range Must(filepath.Glob("*.go")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range Must(parser.ParseFile(token.NewFileSet(), file, nil, 0)).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				of, ok := f.Recv.List[0].Type.(*ast.Ident)
				if !ok || !of.IsExported() {
					continue
				}
				name = of.Name + "." + name
			}
			list = append(list, name)
		}
	}
	return list
}
