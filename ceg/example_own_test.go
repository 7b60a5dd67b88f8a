package ceg_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
)

var registered = active.RegisterFunc("margin-density", func(v active.View) []float64 {
	scores := v.Margin()
	for i, density := range v.Density() {
		scores[i] = (1 - scores[i]) * (1 + density)
	}
	return scores
})

// A query strategy that scores candidates by margin and density is registered and used by its name.
// Run the program again to resume the run; with changed code it begins another.
func Example_ownStrategy() {
	c := config.Must(config.Spec{Target: "photo", Method: "margin-density-ce", Epochs: 3, Timing: config.Published,
		Set: map[string]any{"network.width": 4, "data.image_size": 16, "schedule.per_domain": 64}})
	dir := filepath.Join(os.TempDir(), fmt.Sprint("own-", os.Getpid()))
	defer os.RemoveAll(dir)
	r, err := ceg.Run(context.Background(), c, ceg.Options{Dir: dir, Resume: true})
	if err := errors.Join(registered, err); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Arm().Name(), "has", r.Labels, "labels and a code of", len(c.Exploration.StrategyCode), "digits")
	// Output: margin-density + cross-entropy (published schedule) has 80 labels and a code of 16 digits
}
