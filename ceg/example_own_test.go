package ceg_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
)

func init() {
	// The candidates that are uncertain and have many others near them.
	s, err := active.NewScored("margin-density", func(v active.View) []float64 {
		scores := v.Margin()
		for i, density := range v.Density() {
			scores[i] = (1 - scores[i]) * (1 + density)
		}
		return scores
	})
	if err == nil {
		err = active.Register(s)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// A registered query strategy is used by its name, like the built-in ones; here with cross-entropy.
// The init function of this file registers it.
func Example_ownStrategy() {
	c, err := config.Resolve(config.Spec{Dataset: "glyphs", Target: "photo", Method: "margin-density-ce", Epochs: 3,
		Timing: config.Published, Set: map[string]any{"network.width": 4, "data.image_size": 16, "schedule.per_domain": 64}})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "own")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	r, err := ceg.Run(context.Background(), c, ceg.Options{Dir: dir, Resume: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Arm().Name(), "has", r.Labels, "labels and a code of", len(c.Exploration.StrategyCode), "digits")
	// Output:
	// margin-density + cross-entropy (published schedule) has 80 labels and a code of 16 digits
}
