package report

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/plots"
)

// photos makes a folder of two domains with two classes of 30 images each: the
// dogs are brighter than the cats.
func photos(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, dir := range []string{"day/cat", "day/dog", "night/cat", "night/dog"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			m := image.NewGray(image.Rect(0, 0, 16, 16))
			for k := range m.Pix {
				m.Pix[k] = uint8(rng.IntN(128))
				if strings.HasSuffix(dir, "dog") {
					m.Pix[k] += 100
				}
			}
			f, err := os.Create(filepath.Join(root, dir, fmt.Sprintf("%d.png", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// The maps and scores of a real run: drawn from its weights, and the map also
// when these are gone.
func TestEmbeddingFigures(t *testing.T) {
	s := parse(t, `
name: real
dataset: folder
targets: [night]
seeds: [2]
budgets: [8]
methods: [ceg]
preset: authors
set: {schedule.epochs: 4, data.image_size: 16, network.width: 4}
`)
	dir, roots := t.TempDir(), map[string]string{"folder": photos(t)}
	report, err := s.Run(t.Context(), study.Options{Dir: dir, Roots: roots, Backend: "go", CacheDir: t.TempDir()})
	if err != nil || len(report.Finished) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	figure := func(name string) (*plots.Grid, error) {
		return f.Figure(t.Context(), name, plots.Print(), FigureOptions{Keep: study.Keeper(nil, run.Options{Backend: "go", CacheDir: t.TempDir()})})
	}
	g, err := figure("scores")
	if err != nil || len(g.Panels) != 3 {
		t.Fatalf("scores: %+v, %v", g, err)
	}
	if pool, queried := g.Legend[0].Name, g.Legend[1].Name; pool != "pool (n = 50)" || queried != "queried (n = 4)" {
		t.Errorf("scores of %s and %s", pool, queried)
	}
	draw := func(f *Folder) string {
		g, err := f.Figure(t.Context(), "tsne", plots.Print(), FigureOptions{Keep: study.Keeper(nil, run.Options{Backend: "go", CacheDir: t.TempDir()})})
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Panels) != 2 || g.Legend[0].Name != "selected (4 of 54)" || g.Legend[1].Name != "hollow: target, held out (60)" {
			t.Errorf("tsne: %+v", g)
		}
		path := filepath.Join(t.TempDir(), "tsne.svg")
		if err := g.Save(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := draw(f)
	lookedAt(t, f, roots["folder"])
	to := t.TempDir()
	if _, err := f.Collect(to, result.Omit{}); err != nil {
		t.Fatal(err)
	}
	records, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	if draw(records) != first {
		t.Error("the map from the collected records is another")
	}
	run := filepath.Join(dir, f.Runs[0].Dir)
	if err := os.Remove(filepath.Join(run, checkpoint.File)); err != nil {
		t.Fatal(err)
	}
	single, err := OpenRun(run)
	if err != nil {
		t.Fatal(err)
	}
	if draw(single) != first {
		t.Error("the map is another when the weights are gone")
	}
	if d, err := single.Queried(FigureOptions{}); err != nil || len(d.Tiles) != 4 || len(d.Tiles[0].Scores)+strings.Count(d.Note, "only its ranks differ") != 3 || d.Tiles[0].Round != 1 || d.Tiles[0].Rank != 1 {
		t.Errorf("asked of the run: %+v, %v", d, err)
	}
	if d, err := single.Epochs(FigureOptions{}); err != nil || len(d.Curves) != 1 || len(d.Curves[0].Points) != 4 {
		t.Errorf("epochs of the run: %+v, %v", d, err)
	}
	if _, err := OpenRun(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no run: %v", err)
	}
	again, err := figure("scores")
	if err != nil || again.Legend[0].Name != g.Legend[0].Name || again.Legend[1].Name != g.Legend[1].Name {
		t.Errorf("scores that were kept: %+v, %v", again, err)
	}
	if err := os.Remove(filepath.Join(run, result.ScoresFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := figure("scores"); err == nil || !strings.Contains(err.Error(), checkpoint.File+" is not there") {
		t.Errorf("scores without weights: %v", err)
	}
	// The folder of the study is for these photos alone.
	strange := map[string]string{"folder": photos(t)}
	if err := os.Remove(filepath.Join(strange["folder"], "day", "dog", "7.png")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), study.Options{Dir: dir, Roots: strange, Backend: "go", CacheDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "the run began with other images") {
		t.Errorf("a study goes on with other images: %v", err)
	}
	// A damaged map names its line.
	path := filepath.Join(run, result.MapFile)
	if err := os.WriteFile(path, []byte("id,domain,class,x,y\na,b,c,1,north\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := figure("tsne"); err == nil || !strings.Contains(err.Error(), result.MapFile+`:2: "north", want a number`) {
		t.Errorf("damaged map: %v", err)
	}
}

// lookedAt checks what the interactive figures of the run say of its images.
func lookedAt(t *testing.T, f *Folder, root string) {
	t.Helper()
	_, out, err := f.one(FigureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	queries, err := out.Queries()
	if err != nil {
		t.Fatal(err)
	}
	scores, err := out.Scores()
	if err != nil {
		t.Fatal(err)
	}
	queried, at := map[string]result.Query{}, map[string]float64{}
	for _, c := range scores {
		at[c.ID] = c.Su
	}
	for _, q := range queries {
		queried[q.ID] = q
		if delete(at, q.ID); q.Scores != nil {
			at[q.ID] = q.Scores.Su
		}
	}
	fig, still, err := f.Map(t.Context(), plots.Print(), FigureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(fig.IDs) != 54+60 || len(still.Panels) == 0 {
		t.Fatalf("%d images", len(fig.IDs))
	}
	rounds, targets := 0, 0
	for i, id := range fig.IDs {
		if want := strings.Split(id, "/"); fig.Domains[i] != want[0] || fig.Classes[i] != want[1] {
			t.Fatalf("%s is a %s of %s", id, fig.Classes[i], fig.Domains[i])
		}
		if fig.Domains[i] == "night" {
			targets++
		}
		q, ok := queried[id]
		if want := q.Round; ok != (fig.Rounds[i] >= 0) || ok && fig.Rounds[i] != want {
			t.Errorf("%s was queried in round %d, want %d", id, fig.Rounds[i], want)
		}
		if ok && q.Round > 0 {
			rounds++
		}
		if su, ok := at[id]; ok != !math.IsNaN(fig.Columns[0].Values[i]) || ok && fig.Columns[0].Values[i] != su {
			t.Errorf("%s has S_u %v, want %v", id, fig.Columns[0].Values[i], su)
		}
	}
	if rounds != 4 || targets != 60 || fig.Target != "night" {
		t.Errorf("%d of query rounds and %d of the target %s", rounds, targets, fig.Target)
	}
	m, err := fig.Picture(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(root, filepath.FromSlash(fig.IDs[7])))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	there, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	got, _, _, _ := m.At(3, 5).RGBA()
	if want, _, _, _ := there.At(3, 5).RGBA(); got != want {
		t.Errorf("the picture of %s is another", fig.IDs[7])
	}
	fig, _, err = f.Map(t.Context(), plots.Print(), FigureOptions{Roots: map[string]string{"folder": filepath.Join(root, "gone")}})
	if err != nil || fig.Picture != nil || !strings.Contains(fig.NoPictures, "gone") {
		t.Errorf("without the folder: %v, %v", fig.NoPictures, err)
	}
}
