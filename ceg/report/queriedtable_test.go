package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

const queriedCSV = `round,id,domain,class,s_u,s_r,s_d,rank_u,rank_r,rank_d,r
0,a,photo,dog,,,,,,,
0,b,sketch,cat,,,,,,,
0,c,sketch,dog,,,,,,,
1,d,photo,dog,0.1,1,0.2,0,0,0,0
2,e,photo,dog,0.1,1,0.2,0,0,0,0
`

func TestQueriedTables(t *testing.T) {
	root := t.TempDir()
	for _, run := range []string{"one", "two"} {
		if err := os.MkdirAll(filepath.Join(root, run), 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{result.ConfigFile: `{"format":1}`, result.QueriesFile: queriedCSV} {
			if err := os.WriteFile(filepath.Join(root, run, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	runs, err := result.OpenAll(root)
	if err != nil || len(runs) != 2 {
		t.Fatalf("runs %v, error %v", runs, err)
	}
	tables, err := QueriedTables(runs)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tables[0].Write(&b, result.CSV); err != nil {
		t.Fatal(err)
	}
	want := "run,when,labels,photo,sketch,classes,fewest,most\n" +
		"one,initial,3,1,2,2,1,2\none,later,2,2,0,1,2,2\ntwo,initial,3,1,2,2,1,2\ntwo,later,2,2,0,1,2,2\n"
	if b.String() != want || len(tables) != 1 {
		t.Errorf("%d tables, the first\n%swant\n%s", len(tables), b.String(), want)
	}
	if tables, err = QueriedTables(runs[:1]); err != nil || len(tables) != 3 {
		t.Fatalf("%d tables of one run, error %v", len(tables), err)
	}
	b.Reset()
	if err := tables[1].Write(&b, result.CSV); err != nil {
		t.Fatal(err)
	}
	if want := "class,photo,sketch,all\ncat,0,1,1\ndog,1,1,2\n"; b.String() != want {
		t.Errorf("classes by domains\n%swant\n%s", b.String(), want)
	}
	if _, err := result.OpenAll(t.TempDir()); err == nil {
		t.Error("no error for a folder without runs")
	}
}

// A score that all images shown share is in the note, not below each.
func TestConstantScores(t *testing.T) {
	tiles := func(second float64) []plots.Tile {
		return []plots.Tile{
			{Scores: []plots.Score{{Name: "S_u", Value: 0.9}, {Name: "S_r", Value: 0.574}}},
			{Scores: []plots.Score{{Name: "S_u", Value: 0.8}, {Name: "S_r", Value: second}}},
		}
	}
	for second, want := range map[float64]string{0.574: "S_r is 0.57 for all", 0.58: "S_r is 0.57 to 0.58 for all", 0.6: ""} {
		list := tiles(second)
		note := constantScores(list)
		if scores := len(list[1].Scores); !strings.Contains(note, want) || (note == "") != (want == "") || (scores == 2) != (want == "") {
			t.Errorf("%v: %d scores, note %q, want %q", second, scores, note, want)
		}
	}
}
