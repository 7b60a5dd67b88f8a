// Command newsite tries ledg site on finished runs of a study whose targets are labelled: each
// target is the new site, its labels answer, and audits are simulated.
//
//	go run ./scripts/newsite --runs FOLDER --out tried.jsonl    # goes on where it was
//	go run ./scripts/newsite --out tried.jsonl --table
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets/regular"
)

func main() {
	runs := flag.String("runs", "", "folder of runs")
	out := flag.String("out", "", "file of what was found, a line of JSON a run")
	table := flag.Bool("table", false, "print tables of --out")
	flag.Parse()
	if err := run(context.Background(), *runs, *out, *table); err != nil {
		fmt.Fprintln(os.Stderr, "newsite:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, runs, out string, table bool) error {
	done, err := read(out)
	if err != nil {
		return err
	}
	if table {
		tables(os.Stdout, done)
		return nil
	}
	dirs, err := filepath.Glob(filepath.Join(runs, "*", result.ResultFile))
	if err != nil {
		return err
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	slices.SortStableFunc(dirs, func(a, b string) int { return placeOf(a) - placeOf(b) }) // whole seeds first
	for _, path := range dirs {
		dir := filepath.Dir(path)
		if slices.ContainsFunc(done, func(t *Tried) bool { return t.Run == filepath.Base(dir) }) {
			continue
		}
		t, err := try(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		line, err := json.Marshal(t)
		if err != nil {
			return err
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %.1f before, %.1f after\n", t.Run, 100*t.Before, 100*t.Adapted["maxherding 35"].After)
	}
	return nil
}

// placeOf is the seed of the run with a result, 0 if it cannot be told; runs of many labels,
// which take long, come later.
func placeOf(path string) int {
	r, err := result.ReadResult(os.DirFS(filepath.Dir(path)), result.ResultFile)
	if err != nil {
		return 0
	}
	place := int(r.Seed)
	if r.Labels > 1000 && r.Seed > 3 {
		place += 100
	}
	return place
}

// read reads what was found.
func read(path string) (list []*Tried, err error) {
	f, err := regular.Open(path, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		t := new(Tried)
		if err := json.Unmarshal(s.Bytes(), t); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, t)
	}
	return list, s.Err()
}

// known is a run with all that is true of its data.
type known struct {
	sources *site.Sources
	target  site.Part
	// classes are those of the sources' images without labels.
	classes []int
}

func open(ctx context.Context, dir string) (*known, result.Result, error) {
	fail := func(err error) (*known, result.Result, error) { return nil, result.Result{}, err }
	res, err := result.ReadResult(os.DirFS(dir), result.ResultFile)
	if err != nil {
		return fail(err)
	}
	o := ceg.Options{Dir: dir, Backend: "go"}
	p, err := predict.OpenWith(o)
	if err != nil {
		return fail(err)
	}
	defer p.Close()
	_, d, truth, err := ceg.OpenData(o)
	if err != nil {
		return fail(err)
	}
	k := &known{}
	if k.sources, err = p.Sources(ctx, d.Len()); err != nil {
		return fail(err)
	}
	for _, id := range k.sources.Others.IDs {
		i, _ := d.Index(id)
		k.classes = append(k.classes, truth.Class(i))
	}
	target, err := d.Domain(res.Target)
	if err != nil {
		return fail(err)
	}
	var list, classes []int
	for i, e := range d.Examples {
		if e.Domain == target {
			list, classes = append(list, i), append(classes, truth.Class(i))
		}
	}
	k.target, err = p.Part(ctx, list)
	k.target.Classes = classes
	return k, res, err
}
