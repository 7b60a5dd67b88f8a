package study_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
)

// A study in Go: an ablation of one's own is a value beside the paper's.
func ExampleStudy() {
	mine := study.Study{Name: "mine", Block: study.Block{
		Dataset:   "glyphs",
		Targets:   []string{"sketch"},
		Seeds:     []uint64{1},
		Methods:   []string{"ceg"},
		Ablations: []string{"w/o S_u"},
		Variants: []study.Variant{
			{Name: "w/o strong views", Set: map[string]any{"generalization.tau": 1}},
			{Name: "sure", Set: map[string]any{"generalization.tau": 0.99}},
		},
	}}
	plan, err := mine.Plan()
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range plan.Runs {
		fmt.Println(r.Label(), r.Config.Generalization.Tau)
	}
	// Output:
	// ceg w/o S_u 0.95
	// ceg w/o strong views 1
	// ceg sure 0.99
}

// A study is a file, too; mistakes in it are found before anything runs.
func ExampleParse() {
	_, err := study.Parse("study.yaml", []byte(`
name: small
dataset: glyphs
methods: [uniform, ceg]
set:
  schedule.epochs: twelve
`))
	fmt.Println(err)
	// Output:
	// study.yaml:6: set.schedule.epochs: "twelve", want a whole number
}

// Runs a study on glyphs with a network that is too small to learn anything, and
// prints how the runs stand.
func ExampleStudy_Run() {
	dir, err := os.MkdirTemp("", "study")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tiny := study.Study{Name: "tiny", Block: study.Block{
		Dataset: "glyphs", Methods: []string{"uniform-ce"}, Targets: []string{"photo"}, Seeds: []uint64{1, 2},
		Set: map[string]any{"schedule.epochs": 2, "data.image_size": 16, "network.width": 4},
	}}
	done, err := tiny.Run(context.Background(), study.Options{Dir: dir, Backend: "go", CacheDir: dir + "/cache"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(done.Finished), "finished,", len(done.Failed), "failed")
	folder, err := report.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	table, err := folder.StatusTable()
	if err != nil {
		log.Fatal(err)
	}
	table.Title = ""
	if err := table.Write(os.Stdout, result.Markdown); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2 finished, 0 failed
	// | data set | preset  | method                          | labels | runs | finished | failed | finishing | running | interrupted | not started |
	// | -------- | ------- | ------------------------------- | ------ | ---: | -------: | -----: | --------: | ------: | ----------: | ----------: |
	// | glyphs   | authors | Random + cross-entropy, upfront | 5%     |    2 |        2 |      0 |         0 |       0 |           0 |           0 |
	// | all      |         |                                 |        |    2 |        2 |      0 |         0 |       0 |           0 |           0 |
}
