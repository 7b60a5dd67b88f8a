package experiment

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// fakeEmbedding has the images that fakeQueries asks for, and others: two
// features that are the class and the round, and probabilities that fall with the
// number of the image.
func fakeEmbedding() *ceg.Embedding {
	e := &ceg.Embedding{ClassNames: []string{"one", "two"}, DomainNames: []string{"source"}}
	for _, m := range []*active.Matrix{&e.Features, &e.ClassProbs, &e.DomainProbs} {
		*m = active.Matrix{Cols: 2, Stride: 2}
	}
	e.DomainProbs.Cols, e.DomainProbs.Stride = 1, 1
	add := func(id string, round float32) {
		n := len(e.IDs)
		e.IDs, e.Classes, e.Domains = append(e.IDs, id), append(e.Classes, n%2), append(e.Domains, 0)
		p := 1 - float32(n)/100
		e.Features.Data = append(e.Features.Data, 1+float32(n%2), round+float32(n)/1000)
		e.ClassProbs.Data = append(e.ClassProbs.Data, p, 1-p)
		e.DomainProbs.Data = append(e.DomainProbs.Data, 1)
	}
	for round := range 2 {
		for _, q := range fakeQueries(round) {
			add(q.ID, float32(round))
		}
	}
	for i := range 20 {
		add(fmt.Sprintf("other/%d", i), 2)
	}
	for _, m := range []*active.Matrix{&e.Features, &e.ClassProbs, &e.DomainProbs} {
		m.Rows = len(e.IDs)
	}
	return e
}

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
set: {schedule.epochs: 4, data.image_size: 16, network.width: 4}
`)
	dir, roots := t.TempDir(), map[string]string{"folder": photos(t)}
	report, err := s.Run(t.Context(), Options{Dir: dir, Roots: roots, Backend: "go", CacheDir: t.TempDir()})
	if err != nil || len(report.Finished) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	figure := func(name string) (*plots.Grid, error) {
		return f.Figure(t.Context(), name, plots.Print(), FigureOptions{Backend: "go", CacheDir: t.TempDir()})
	}
	g, err := figure("scores")
	if err != nil || len(g.Panels) != 3 {
		t.Fatalf("scores: %+v, %v", g, err)
	}
	if pool, queried := g.Legend[0].Name, g.Legend[1].Name; pool != "pool (n = 50)" || queried != "queried (n = 4)" {
		t.Errorf("scores of %s and %s", pool, queried)
	}
	draw := func(f *Folder) string {
		g, err := f.Figure(t.Context(), "tsne", plots.Print(), FigureOptions{Backend: "go", CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Panels) != 2 || g.Legend[0].Name != "selected (4 of 54)" {
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
	to := t.TempDir()
	if _, err := f.Collect(to); err != nil {
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
	if err := os.Remove(filepath.Join(run, ceg.CheckpointFile)); err != nil {
		t.Fatal(err)
	}
	single, err := OpenRun(run)
	if err != nil {
		t.Fatal(err)
	}
	if draw(single) != first {
		t.Error("the map is another when the weights are gone")
	}
	if d, err := single.Asked(FigureOptions{}); err != nil || len(d.Tiles) != 4 || len(d.Tiles[0].Scores) != 3 {
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
	if err := os.Remove(filepath.Join(run, scoresFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := figure("scores"); err == nil || !strings.Contains(err.Error(), ceg.CheckpointFile+" is not there") {
		t.Errorf("scores without weights: %v", err)
	}
	// The folder of the study is for these photos alone.
	strange := map[string]string{"folder": photos(t)}
	if err := os.Remove(filepath.Join(strange["folder"], "day", "dog", "7.png")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), Options{Dir: dir, Roots: strange, Backend: "go", CacheDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "the run began with other images") {
		t.Errorf("a study goes on with other images: %v", err)
	}
	// A damaged map names its line.
	path := filepath.Join(run, mapFile)
	if err := os.WriteFile(path, []byte("id,domain,class,x,y\na,b,c,1,north\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := figure("tsne"); err == nil || !strings.Contains(err.Error(), mapFile+`:2: "north", want a number`) {
		t.Errorf("damaged map: %v", err)
	}
}

// The first ten images are labelled before the last round, the next ten are what
// it asks for, the other twenty what it leaves.
func TestLastRoundScores(t *testing.T) {
	e := fakeEmbedding()
	scores := func(queries []result.Query) ([]plots.ScoreGroup, error) {
		before, asked, err := lastRound(queries)
		if err != nil {
			return nil, err
		}
		s, err := scoreCandidates(e, ceg.Exploration{}, before)
		if err != nil {
			return nil, err
		}
		return s.groups(asked)
	}
	groups, err := scores(slices.Concat(fakeQueries(0), fakeQueries(1)))
	if err != nil {
		t.Fatal(err)
	}
	u := groups[0]
	if len(u.Pool) != 30 || len(u.Queried) != 10 {
		t.Fatalf("%d in the pool, %d queried", len(u.Pool), len(u.Queried))
	}
	// Image 10 has 0.9 and 0.1: its uncertainty is 1 - 0.8.
	for i, want := range []float64{0.2, 0.22} {
		if d := u.Queried[i] - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("uncertainty %d is %v, want %v", i, u.Queried[i], want)
		}
	}
	if !slices.Equal(u.Pool[:10], u.Queried) {
		t.Errorf("queried %v, the pool begins with %v", u.Queried, u.Pool[:10])
	}
	if _, err := scores(fakeQueries(0)); err == nil {
		t.Error("scores without a query round")
	}
	strange := fakeQueries(1)
	strange[3].ID = "elsewhere"
	if _, err := scores(slices.Concat(fakeQueries(0), strange)); err == nil || !strings.Contains(err.Error(), "elsewhere was asked for, but is not in the pool") {
		t.Errorf("an image that is not in the pool: %v", err)
	}
}
