package run_test

import (
	"os"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The reliable set of a run is of unlabelled source images.
func TestReliableSet(t *testing.T) {
	c := tiny(t, "ceg", config.Authors, "data.pool_share", 0.3)
	first := c.Schedule.QueryAfter[0]
	for _, epoch := range []int{0, first} {
		o := run.Options{Dir: stopAfter(t, c, run.Options{Backend: "go"}, epoch)}
		got, d, truth, err := run.OpenData(o)
		if err != nil || got.Data.Target != c.Data.Target || truth.Len() != d.Len() {
			t.Fatalf("%+v, %v", got.Data, err)
		}
		set, err := run.ReliableSet(o, d)
		if err != nil || len(set) == 0 {
			t.Fatalf("after epoch %d: %d images, %v", epoch, len(set), err)
		}
		queries := fatal.Get(result.ReadQueries(os.DirFS(o.Dir), result.QueriesFile))(t)
		for id, class := range set {
			i, ok := d.Index(id)
			if !ok || d.Domains[d.Examples[i].Domain] == c.Data.Target || !slices.Contains(d.Classes, class) {
				t.Errorf("%s is taken for %s", id, class)
			}
			if slices.ContainsFunc(queries, func(q result.Query) bool { return q.ID == id }) {
				t.Errorf("%s is labelled", id)
			}
		}
	}
}
