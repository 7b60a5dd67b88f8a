package labels_test

import (
	"fmt"
	"log"
	"os"

	"github.com/ledg-go/ledg/ceg/labels"
)

func Example() {
	dir, err := os.MkdirTemp("", "labels")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := labels.Open(dir, []string{"cat", "dog"}, labels.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	// A run asks, and somebody answers.
	if _, err := l.Query("run", 0, []labels.Question{{ID: "north/1.jpg"}, {ID: "north/2.jpg"}}); err != nil {
		log.Fatal(err)
	}
	if _, err := l.Append(labels.Event{Kind: labels.Labelled, ID: "north/2.jpg", Class: "dog", By: "ann", Seconds: 1.5}); err != nil {
		log.Fatal(err)
	}
	l.View(func(s *labels.State) {
		fmt.Println("open:", s.OpenImages(10)[0].ID)
		for _, v := range s.Labels() {
			fmt.Println("round", v.Round, v.ID, v.Class, "by", v.By)
		}
	})
	// Output:
	// open: north/1.jpg
	// round 0 north/2.jpg dog by ann
}
