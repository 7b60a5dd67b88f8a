package shard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]shard.Shard{"0/1": {Index: 0, Count: 1}, "2/4": {Index: 2, Count: 4}} {
		if p, err := shard.Parse(text); err != nil || p != want || p.String() != text {
			t.Errorf("Parse(%q) = %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "1", "4/4", "5/4", "-1/4", "0/0", "a/4", "1/b", "1/4/2", " 1/4"} {
		if p, err := shard.Parse(text); err == nil || !strings.Contains(err.Error(), "want i/n with i from 0 to n-1") {
			t.Errorf("Parse(%q) = %v, %v", text, p, err)
		}
	}
}

// Ranges follow each other from 0 to n, and differ in length by 1 at most.
func TestRange(t *testing.T) {
	for _, n := range []int{0, 1, 3, 7, 100, 1 << 62} {
		for _, count := range []int{1, 2, 3, 7, 101} {
			at := 0
			for i := range count {
				from, to := shard.Shard{Index: i, Count: count}.Range(n)
				if from != at || to-from != n/count && to-from != n/count+1 {
					t.Fatalf("shard %d/%d of %d is [%d, %d) after %d", i, count, n, from, to, at)
				}
				at = to
			}
			if at != n {
				t.Errorf("%d shards of %d end at %d", count, n, at)
			}
		}
	}
	if from, to := (shard.Shard{}).Range(5); from != 0 || to != 5 {
		t.Errorf("the whole is [%d, %d)", from, to)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "a[1].csv")
	var want []string
	for i := range 12 {
		path := shard.Shard{Index: i, Count: 12}.File(out)
		want = append(want, path)
		for _, more := range []string{"", ".lock"} {
			fatal.If(t, os.WriteFile(path+more, nil, 0o666))
		}
	}
	slices.Sort(want)
	if got, err := shard.Find(out); err != nil || !slices.Equal(got, want) {
		t.Errorf("found %q, %v", got, err)
	}
	fatal.Says(t, fatal.Err(shard.Find(filepath.Join(dir, "none.csv"))), "no shards lie beside it")
}

// Files of other programs and damaged ones are no shards.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part")
	for text, ok := range map[string]bool{
		`ledg journal 1 {"shard":"1/2","total":3,"of":{}}` + "\n":  true,
		`ledg journal 1 {"shard":"1/2","total":3,"of":{}}`:         false,
		`ledg journal 1 {"shard":"5/4","total":3,"of":{}}` + "\n":  false,
		`ledg journal 1 {"shard":"1/2","total":-3,"of":{}}` + "\n": false,
		`ledg journal 1 {"total":3,"of":{}}` + "\n":                false,
		`ledg journal 1 {"shard":"1/2","total":3}` + "\n":          false,
		`{"part":"1/2","total":3,"of":{}}` + "\n":                  false, // of an older ledg
		"path,class\n":                      false,
		"":                                  false,
		"\x09\x00\x00\x00\x00\x00\x00\x00{": false,
		strings.Repeat("x", 2<<20):          false,
	} {
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
		f, err := shard.Read(path)
		if (err == nil) != ok || !ok && !strings.Contains(fmt.Sprint(err), "part: it is no shard that ledg embed makes") {
			t.Errorf("%.60q: %+v, %v", text, f, err)
		}
	}
}
