package feed_test

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// blank stands in for the cached images of a data set.
type blank struct{}

func (blank) Size() int                  { return 32 }
func (blank) Len() int                   { return 20 }
func (blank) Read(int, *rgb.Image) error { return nil }

// An epoch of two domains with two images each per batch.
func Example() {
	loader, err := feed.New(feed.Pixels(blank{}), feed.Config{Seed: 1, Domains: []string{"photo", "sketch"}, Batch: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	epoch, err := loader.Epoch(0, feed.Subsets{
		Labelled: feed.Subset{
			Example: []int{0, 1, 10, 11},
			Domain:  []int{0, 0, 1, 1},
			Label:   []int{3, 4, 3, 6},
			Views:   []augment.View{augment.WeakView},
		},
		Unlabelled: feed.Subset{
			Example: []int{2, 3, 4, 5, 6, 12, 13, 14, 15},
			Domain:  []int{0, 0, 0, 0, 0, 1, 1, 1, 1},
			Views:   []augment.View{augment.WeakView, augment.StrongView},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for b, err := range epoch.Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(b.Iteration, b.Unlabelled.Domain, len(b.Labelled.View("weak")), len(b.Unlabelled.View("strong")))
	}
	// Output:
	// 0 [0 0 1 1] 12288 12288
	// 1 [0 0 1 1] 12288 12288
}

// The test set in batches of a fixed size.
func ExampleEvalBatches() {
	for b, err := range feed.EvalBatches(context.Background(), feed.Pixels(blank{}), []int{5, 6, 7, 8, 9}, 2) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(b.Start, b.Example, len(b.Plain))
	}
	// Output:
	// 0 [5 6] 6144
	// 2 [7 8] 6144
	// 4 [9] 6144
}
