package active

import (
	"context"
	"fmt"
)

// Oracle is who answers: a person, or the truth of a benchmark.
type Oracle interface {
	// Name says who answers, for the ledger.
	Name() string
	// Label returns the class of every ID, in their order. It may take long, and
	// stops with the context.
	Label(ctx context.Context, ids []string) ([]int, error)
}

// Simulated returns an oracle that answers from the truth, named "simulated".
// class returns the class of an ID, and a negative number for one that it does
// not know, which is an error of Label.
func Simulated(class func(id string) int) Oracle { return simulated{class} }

type simulated struct{ class func(id string) int }

func (simulated) Name() string { return "simulated" }

func (s simulated) Label(ctx context.Context, ids []string) ([]int, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	classes := make([]int, len(ids))
	for i, id := range ids {
		if classes[i] = s.class(id); classes[i] < 0 {
			return nil, fmt.Errorf("the truth does not know the class of %q", id)
		}
	}
	return classes, nil
}
