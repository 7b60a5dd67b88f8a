package audit

import "github.com/ledg-go/ledg/ceg/result"

// FewestOfClass is how many audited images of a class its accuracy needs to be told.
const FewestOfClass = 5

// Counts is what an audit has found: images by their class, a row, and the one they were
// seen as, a column. Rows beyond the columns are of classes that the network does not know:
// they count, and are wrong.
type Counts struct {
	// Classes are the names of the rows, those of the columns first.
	Classes []string `json:"classes"`
	Counts  [][]int  `json:"counts"`
	known   int
}

// NewCounts counts nothing yet, of a network that knows some classes.
func NewCounts(classes []string) *Counts {
	c := &Counts{known: len(classes)}
	for _, name := range classes {
		c.add(name)
	}
	return c
}

func (c *Counts) add(class string) int {
	c.Classes = append(c.Classes, class)
	c.Counts = append(c.Counts, make([]int, c.known))
	return len(c.Classes) - 1
}

// Add counts an image of a class, known or not, that was seen as one of the known.
func (c *Counts) Add(class string, seen int) {
	for i, name := range c.Classes {
		if name == class {
			c.Counts[i][seen]++
			return
		}
	}
	c.Counts[c.add(class)][seen]++
}

// New are the classes that the network does not know.
func (c *Counts) New() []string { return c.Classes[c.known:] }

// Tally is how many were right.
func (c *Counts) Tally() (t result.Tally) {
	for i := range c.Counts {
		t = t.Add(c.Of(i))
	}
	return t
}

// Of is how many of the images of a class were right.
func (c *Counts) Of(class int) (t result.Tally) {
	for _, n := range c.Counts[class] {
		t.Total += n
	}
	if class < c.known {
		t.Correct = c.Counts[class][class]
	}
	return t
}

// Class is the accuracy on a class.
type Class struct {
	Class string       `json:"class"`
	Tally result.Tally `json:"right"`
	// Accuracy is nil with fewer than [FewestOfClass] images.
	Accuracy *Interval `json:"accuracy,omitempty"`
}

// PerClass is the accuracy on every class that has an image.
func (c *Counts) PerClass() (list []Class) {
	for i, name := range c.Classes {
		one := Class{Class: name, Tally: c.Of(i)}
		if one.Tally.Total >= FewestOfClass {
			w := Wilson(one.Tally)
			one.Accuracy = &w
		}
		if one.Tally.Total > 0 {
			list = append(list, one)
		}
	}
	return list
}
