package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A run on views that the frozen part of its network has computed once learns, ends with a network
// that says of images what the run said of their maps, and shares the views with another run.
func TestViewsOfTheFrozenPart(t *testing.T) {
	for _, freeze := range []string{"2", "head"} {
		t.Run("freeze "+freeze, func(t *testing.T) {
			cache := t.TempDir()
			views := func() []string {
				return fatal.Get(filepath.Glob(filepath.Join(cache, "*-views-*.safetensors")))(t)
			}
			var made os.FileInfo
			for _, method := range []string{"ceg", "uniform-ce"} {
				c := tiny(t, method, config.Authors, "network.freeze", freeze, "data.views", 4, "network.width", 8, "data.pool_share", 0.5)
				o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go", CacheDir: cache}
				fatal.Get(run.Run(t.Context(), c, o))(t)
				list := views()
				if len(list) != 1 {
					t.Fatalf("after a run of %s the views are in %v", method, list)
				}
				info := fatal.Get(os.Stat(list[0]))(t)
				if made == nil {
					made = info
				} else if !os.SameFile(made, info) || !made.ModTime().Equal(info.ModTime()) {
					t.Error("the second run has computed the views again")
				}

				records, _ := fatal.Get2(result.ReadRecords(os.DirFS(o.Dir), result.RecordsFile, result.WholeFile))(t)
				first, last := records[0], records[len(records)-1]
				if a, b := first.Loss[0], last.Loss[0]; freeze != "head" && !(b.Value < a.Value) {
					t.Errorf("%s: %s is %v in the first epoch and %v in the last", method, a.Name, a.Value, b.Value)
				}
				e := fatal.Get(run.EmbedTarget(t.Context(), o))(t)
				correct, all := 0, 0
				for i, d := range e.Domains {
					if d != len(e.DomainNames)-1 {
						continue
					}
					all++
					m := e.ClassProbs
					row, best := m.Data[i*m.Stride:i*m.Stride+m.Cols], 0
					for k, p := range row {
						if p > row[best] {
							best = k
						}
					}
					if best == e.Classes[i] {
						correct++
					}
				}
				if got := last.Target(); got.Correct != correct || got.Total != all {
					t.Errorf("%s: the record has %d of %d images right, the network on images %d of %d", method, got.Correct, got.Total, correct, all)
				}
			}
		})
	}
}
