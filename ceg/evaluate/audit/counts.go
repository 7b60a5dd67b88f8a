package audit

import "github.com/ledg-go/ledg/ceg/result"

// FewestOfClass is the smallest number of audited images of a class for which its accuracy is
// reported.
const FewestOfClass = 5

// Counts is the confusion matrix of an audit: rows are true classes, columns predictions.
// Additional rows are classes unknown to the network; their images count as errors.
type Counts struct {
	// Classes are the names of the rows, the network's classes first.
	Classes []string `json:"classes"`
	Counts  [][]int  `json:"counts"`
}

// NewCounts returns an empty confusion matrix of a network with the given classes.
func NewCounts(classes []string) *Counts {
	c := &Counts{}
	for _, name := range classes {
		c.add(name, len(classes))
	}
	return c
}

// known is the number of the network's classes, the columns.
func (c *Counts) known() int {
	if len(c.Counts) == 0 {
		return 0
	}
	return len(c.Counts[0])
}

func (c *Counts) add(class string, columns int) int {
	c.Classes = append(c.Classes, class)
	c.Counts = append(c.Counts, make([]int, columns))
	return len(c.Classes) - 1
}

// Add counts an image with its true class, known to the network or not, and its predicted class.
func (c *Counts) Add(class string, seen int) {
	for i, name := range c.Classes {
		if name == class {
			c.Counts[i][seen]++
			return
		}
	}
	c.Counts[c.add(class, c.known())][seen]++
}

// New lists the classes unknown to the network.
func (c *Counts) New() []string { return c.Classes[c.known():] }

// Tally counts the correct predictions.
func (c *Counts) Tally() (t result.Tally) {
	for i := range c.Counts {
		t = t.Add(c.Of(i))
	}
	return t
}

// Of counts the correct predictions of a class.
func (c *Counts) Of(class int) (t result.Tally) {
	for _, n := range c.Counts[class] {
		t.Total += n
	}
	if class < c.known() {
		t.Correct = c.Counts[class][class]
	}
	return t
}

// Class is the accuracy on one class.
type Class struct {
	Class string       `json:"class"`
	Tally result.Tally `json:"right"`
	// Accuracy is nil with fewer than [FewestOfClass] images.
	Accuracy *Interval `json:"accuracy,omitempty"`
}

// PerClass returns the accuracy on every class with an image.
func (c *Counts) PerClass() (list []Class) {
	for i, name := range c.Classes {
		one := Class{Class: name, Tally: c.Of(i)}
		if one.Tally.Total >= FewestOfClass {
			w := Exact(one.Tally)
			one.Accuracy = &w
		}
		if one.Tally.Total > 0 {
			list = append(list, one)
		}
	}
	return list
}
