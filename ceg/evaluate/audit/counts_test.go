package audit_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
)

func TestCountsWithANewClass(t *testing.T) {
	c := audit.NewCounts([]string{"cat", "dog"})
	for range 4 {
		c.Add("cat", 0)
	}
	c.Add("cat", 1)
	c.Add("dog", 1)
	c.Add("fox", 1)
	c.Add("fox", 0)
	if got := c.Tally(); got != (result.Tally{Correct: 5, Total: 8}) {
		t.Errorf("tally %v", got)
	}
	if !slices.Equal(c.New(), []string{"fox"}) {
		t.Errorf("new classes %v", c.New())
	}
	list := c.PerClass()
	if len(list) != 3 || list[0].Accuracy == nil || list[0].Accuracy.Share != 0.8 || list[1].Accuracy != nil || list[2].Tally != (result.Tally{Total: 2}) {
		t.Errorf("classes %+v", list)
	}
	read := new(audit.Counts)
	if data, err := json.Marshal(c); err != nil || json.Unmarshal(data, read) != nil || !reflect.DeepEqual(read.PerClass(), list) || !slices.Equal(read.New(), c.New()) {
		t.Errorf("after JSON: classes %+v, new %v", read.PerClass(), read.New())
	}
}
