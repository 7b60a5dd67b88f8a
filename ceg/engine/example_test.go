package engine_test

import (
	"fmt"
	"log"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/engine"
)

// A program opens one backend, says which, and computes with it.
func Example() {
	b, err := engine.Open("go")
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	fmt.Println(b.Description)
	sum, err := graph.CallOnce(b.Compute, graph.ReduceAllSum, []float32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Value())
	// Output:
	// backend go: pure Go, requested
	// 6
}
