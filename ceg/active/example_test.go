package active_test

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets/seed"
)

func matrix(cols int, v ...float32) active.Matrix {
	return active.Matrix{Rows: len(v) / cols, Cols: cols, Stride: cols, Data: v}
}

// candidates are four unlabelled images of two domains and two classes, beside
// one labelled image.
func candidates() *active.Candidates {
	return &active.Candidates{
		IDs:              []string{"photo/1.jpg", "photo/2.jpg", "sketch/1.png", "sketch/2.png"},
		Features:         matrix(2, 1, 0, 0, 1, 1, 1, 0.5, 2),
		ClassProbs:       matrix(2, 0.5, 0.5, 0.9, 0.1, 0.6, 0.4, 0.7, 0.3),
		DomainProbs:      matrix(2, 0.9, 0.1, 0.6, 0.4, 0.3, 0.7, 0.2, 0.8),
		LabelledFeatures: matrix(2, 3, 0),
		LabelledClasses:  []int{1},
		LabelledDomains:  []int{0},
	}
}

// One round: choose, ask, record.
func Example() {
	pool, err := active.NewPool([]string{"photo/0.jpg", "photo/1.jpg", "photo/2.jpg", "sketch/1.png", "sketch/2.png"}, []int{0, 0, 0, 1, 1}, 2, 2)
	if err != nil {
		panic(err)
	}
	truth := map[string]int{"photo/0.jpg": 1, "photo/2.jpg": 0, "sketch/2.png": 1}
	if err := pool.Record("truth", 0, []string{"photo/0.jpg"}, []int{truth["photo/0.jpg"]}); err != nil {
		panic(err)
	}

	strategy := active.CEG{Weights: active.Gammas(3, 1)}
	picks, err := strategy.Query(candidates(), 2, seed.New(1, "query", 1))
	if err != nil {
		panic(err)
	}
	var classes []int
	for _, p := range picks {
		fmt.Printf("%s: R = %v, ranks %d, %d, %d\n", p.ID, p.R, p.RankSu, p.RankSr, p.RankSd)
		classes = append(classes, truth[p.ID])
	}
	if err := pool.Record("truth", 1, active.IDs(picks), classes); err != nil {
		panic(err)
	}
	for _, l := range pool.Labelled() {
		fmt.Println(l.Round, l.ID, l.Class, l.Oracle)
	}
	// Output:
	// photo/1.jpg: R = 3, ranks 0, 0, 3
	// sketch/2.png: R = 6, ranks 2, 1, 1
	// 0 photo/0.jpg 1 truth
	// 1 photo/1.jpg 0 truth
	// 1 sketch/2.png 1 truth
}

func ExampleByName() {
	for _, name := range []string{"uniform", "entropy", "coreset", "badge"} {
		s, err := active.ByName(name, active.Options{})
		if err != nil {
			panic(err)
		}
		picks, err := s.Query(candidates(), 2, seed.New(1, "query"))
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s needs %v and picks %v\n", s.Name(), s.Needs(), active.IDs(picks))
	}
	// Output:
	// uniform needs none and picks [photo/1.jpg sketch/1.png]
	// entropy needs ClassProbs and picks [photo/1.jpg sketch/1.png]
	// coreset needs Features, LabelledFeatures and picks [sketch/2.png photo/1.jpg]
	// badge needs Features, ClassProbs and picks [photo/1.jpg sketch/2.png]
}

func ExampleBudget() {
	b, err := active.ParseBudget("5%")
	if err != nil {
		panic(err)
	}
	total, err := b.Labels(7136)
	if err != nil {
		panic(err)
	}
	initial := total / 2
	rounds, err := active.PublishedRounds(total-initial, 6)
	if err != nil {
		panic(err)
	}
	fmt.Println(total, initial, rounds)
	_, err = b.Labels(10)
	fmt.Println(err)
	// Output:
	// 356 178 [30 30 30 30 30 28]
	// budget 5% of a pool of 10 is less than one label
}
