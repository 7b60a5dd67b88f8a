package result

import (
	"encoding/json"
	"fmt"
)

// ClassTally counts predictions of one class: Total images have it, Predicted are predicted as it,
// Correct are both. Its JSON is the array [correct, total, predicted].
type ClassTally struct{ Correct, Total, Predicted int }

// F1 returns the harmonic mean of precision and recall, 2 Correct/(Total + Predicted), in [0, 1]; 0
// if the class has neither images nor predictions.
func (c ClassTally) F1() float64 {
	return Tally{Correct: 2 * c.Correct, Total: c.Total + c.Predicted}.Share()
}

// Recall returns the accuracy on the images of the class, in [0, 1].
func (c ClassTally) Recall() float64 { return Tally{Correct: c.Correct, Total: c.Total}.Share() }

// MarshalJSON returns [correct,total,predicted].
func (c ClassTally) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d,%d]", c.Correct, c.Total, c.Predicted), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *ClassTally) UnmarshalJSON(data []byte) error {
	var list []int
	if err := json.Unmarshal(data, &list); err != nil || len(list) != 3 {
		return fmt.Errorf("a class is %s, want [correct,total,predicted]", data)
	}
	*c = ClassTally{list[0], list[1], list[2]}
	return nil
}

// ClassTallies are the counts of all classes, in the order of the data set.
type ClassTallies []ClassTally

// Add adds the counts of another split with the same classes; nil counts as zeros.
func (c ClassTallies) Add(d ClassTallies) ClassTallies {
	if len(d) == 0 {
		return c
	}
	sum := make(ClassTallies, len(d))
	copy(sum, c)
	for i, x := range d {
		sum[i].Correct, sum[i].Total, sum[i].Predicted = sum[i].Correct+x.Correct, sum[i].Total+x.Total, sum[i].Predicted+x.Predicted
	}
	return sum
}

// MacroF1 returns the mean F1, in [0, 1], over classes with an image or a prediction.
func (c ClassTallies) MacroF1() float64 {
	return c.mean(ClassTally.F1, func(x ClassTally) bool { return x.Total+x.Predicted > 0 })
}

// MeanRecall returns the mean recall over classes with an image, in [0, 1].
func (c ClassTallies) MeanRecall() float64 {
	return c.mean(ClassTally.Recall, func(x ClassTally) bool { return x.Total > 0 })
}

func (c ClassTallies) mean(of func(ClassTally) float64, counts func(ClassTally) bool) float64 {
	sum, n := 0.0, 0
	for _, x := range c {
		if counts(x) {
			sum += of(x)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// Confusion is a confusion matrix: rows are true classes, columns predictions.
type Confusion [][]int

// NewConfusion returns a zero confusion matrix.
func NewConfusion(classes int) Confusion {
	c := make(Confusion, classes)
	for i := range c {
		c[i] = make([]int, classes)
	}
	return c
}

// Classes sums rows and columns to counts by class.
func (c Confusion) Classes() ClassTallies {
	list := make(ClassTallies, len(c))
	for i, row := range c {
		for k, n := range row {
			list[i].Total += n
			list[k].Predicted += n
		}
		list[i].Correct = row[i]
	}
	return list
}

// Validate returns an error unless it is a square matrix of counts.
func (c Confusion) Validate() error {
	for i, row := range c {
		if len(row) != len(c) {
			return fmt.Errorf("row %d of the confusion has %d columns for %d classes", i, len(row), len(c))
		}
		for k, n := range row {
			if n < 0 {
				return fmt.Errorf("the confusion counts %d images of class %d as %d", n, i, k)
			}
		}
	}
	return nil
}

// NewAccuracy returns an empty accuracy on a split with counts by class and, on request, a
// confusion matrix.
func NewAccuracy(domain, split string, classes int, confusion bool) Accuracy {
	a := Accuracy{Domain: domain, Split: split, Classes: make(ClassTallies, classes)}
	if confusion {
		a.Confusion = NewConfusion(classes)
	}
	return a
}

// Count adds a prediction for an image of class truth; a negative truth is unknown.
func (a *Accuracy) Count(predicted, truth int) {
	a.Tally.Count(predicted, truth)
	if truth < 0 {
		return
	}
	if a.Classes != nil {
		a.Classes[truth].Total++
		a.Classes[predicted].Predicted++
		if predicted == truth {
			a.Classes[truth].Correct++
		}
	}
	if a.Confusion != nil {
		a.Confusion[truth][predicted]++
	}
}

// validate reports what does not add up. Counts by class may be missing, as they are in
// records of older versions.
func (a Accuracy) validate() error {
	sum := ClassTally{}
	for i, c := range a.Classes {
		if c.Correct < 0 || c.Correct > min(c.Total, c.Predicted) {
			return fmt.Errorf("accuracy of %s %s: class %d is [%d,%d,%d], want 0 <= correct <= total and predicted", a.Domain, a.Split, i, c.Correct, c.Total, c.Predicted)
		}
		sum = ClassTally{sum.Correct + c.Correct, sum.Total + c.Total, sum.Predicted + c.Predicted}
	}
	if t := a.Tally; a.Classes != nil && sum != (ClassTally{t.Correct, t.Total, t.Total}) {
		return fmt.Errorf("accuracy of %s %s: the classes have %d right of %d and %d predictions, all have %s", a.Domain, a.Split, sum.Correct, sum.Total, sum.Predicted, t)
	}
	if a.Confusion == nil {
		return nil
	}
	if err := a.Confusion.Validate(); err != nil {
		return fmt.Errorf("accuracy of %s %s: %w", a.Domain, a.Split, err)
	}
	list := a.Confusion.Classes()
	if len(list) != len(a.Classes) {
		return fmt.Errorf("accuracy of %s %s: a confusion of %d classes beside counts of %d", a.Domain, a.Split, len(list), len(a.Classes))
	}
	for i, c := range list {
		if c != a.Classes[i] {
			return fmt.Errorf("accuracy of %s %s: the confusion gives class %d %v, beside it is %v", a.Domain, a.Split, i, c, a.Classes[i])
		}
	}
	return nil
}
