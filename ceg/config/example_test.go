package config_test

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
)

func ExampleResolve() {
	c, err := config.Resolve(config.Spec{Dataset: "pacs", Target: "sketch", Method: "ceg", Preset: config.Authors})
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Schedule.Epochs, "epochs, queries after", c.Schedule.QueryAfter)
	fmt.Println("delta", c.Generalization.Delta, "gammas", c.Exploration.Gamma1, c.Exploration.Gamma2)
	_, err = config.Resolve(config.Spec{Target: "photo", Method: "fixmatch", Objective: "jigen"})
	fmt.Println(err)
	// Output:
	// 60 epochs, queries after [30 35 40 45 50 55]
	// delta 0.3 gammas 3 1
	// method "fixmatch" and generalization.objective "jigen" contradict each other: the method is the strategy uniform with the objective fixmatch
}
