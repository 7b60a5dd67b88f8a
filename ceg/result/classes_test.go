package result

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// counted are ten answers about three classes of four: by hand
//
//	            said 0  1  2  3   recall  F1
//	class 0         3   1  0  0   3/4     6/(4+5) = 2/3
//	class 1         2   2  0  0   2/4     4/(4+3) = 4/7
//	class 2         0   0  1  1   1/2     2/(2+1) = 2/3
//	class 3         0   0  0  0   -       0/(0+1) = 0
func counted() Accuracy {
	a := NewAccuracy("photo", TestSplit, 4, true)
	for truth, row := range [][]int{{3, 1, 0, 0}, {2, 2, 0, 0}, {0, 0, 1, 1}} {
		for predicted, n := range row {
			for range n {
				a.Count(predicted, truth)
			}
		}
	}
	a.Count(1, -1)
	return a
}

func TestCountsByClass(t *testing.T) {
	a := counted()
	if want := (Tally{Correct: 6, Total: 10, Unknown: 1}); a.Tally != want {
		t.Errorf("the tally is %v, want %v", a.Tally, want)
	}
	if want := (ClassTallies{{3, 4, 5}, {2, 4, 3}, {1, 2, 1}, {0, 0, 1}}); !reflect.DeepEqual(a.Classes, want) || !reflect.DeepEqual(a.Confusion.Classes(), want) {
		t.Errorf("the classes are %v and %v, want %v", a.Classes, a.Confusion.Classes(), want)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }
	if got, want := a.Classes.MacroF1(), (2./3+4./7+2./3+0)/4; !near(got, want) {
		t.Errorf("macro-F1 is %v, want %v", got, want)
	}
	if got, want := a.Classes.MeanRecall(), (3./4+2./4+1./2)/3; !near(got, want) {
		t.Errorf("the mean recall is %v, want %v", got, want)
	}
	if (ClassTallies{}).MacroF1() != 0 || (ClassTallies{{0, 0, 0}}).MeanRecall() != 0 {
		t.Error("of nothing there is something")
	}
	plain := Accuracy{}
	plain.Count(2, 2)
	if plain.Tally.Correct != 1 || plain.Classes != nil {
		t.Errorf("without classes it is %+v", plain)
	}
}

// A record with counts by class reads back as it is, one without is as before, and counts
// that do not add up are errors.
func TestRecordByClass(t *testing.T) {
	r := sample(0, 12, 0, 6, 7)
	if r.ByClass(TestSplit) != nil {
		t.Error("an old record has counts by class")
	}
	r.Accuracy[2] = counted()
	val := NewAccuracy("print", ValSplit, 4, false)
	for range 4 {
		val.Count(0, 0)
	}
	r.Accuracy[0] = val
	line := fatal.Get(r.Line())(t)
	if want := `{"domain":"print","split":"val","tally":[4,4],"classes":[[4,4,4],[0,0,0],[0,0,0],[0,0,0]]}`; !strings.Contains(string(line), want) {
		t.Errorf("the line is %s, want %s in it", line, want)
	}
	read := func(line string) ([]Record, error) {
		list, _, err := ReadRecords(fstest.MapFS{"r": {Data: []byte(line)}}, "r", WholeFile)
		return list, err
	}
	if list, err := read(string(line)); err != nil || !reflect.DeepEqual(list[0], r) {
		t.Errorf("read %+v, %v, want %+v", list, err, r)
	}
	if got := r.ByClass(ValSplit); !reflect.DeepEqual(got, val.Classes) { // that of sketch has none
		t.Errorf("by class %v", got)
	}
	for _, tt := range []struct{ from, to, want string }{
		{`"classes":[[3,4,5],`, `"classes":[[4,4,5],`, "the classes have 7 right of 10 and 10 predictions, all have 6/10 of 11"},
		{`[2,4,3]`, `[2,3,3]`, "the classes have 6 right of 9"},
		{`[2,4,3]`, `[2,4,1]`, "class 1 is [2,4,1], want 0 <= correct <= total and predicted"},
		{`[2,4,3]`, `[2,4]`, "a class is [2,4], want [correct,total,predicted]"},
		{`[2,2,0,0]`, `[2,1,1,0]`, "the confusion gives class 1 "},
		{`[2,2,0,0]`, `[2,2,0]`, "row 1 of the confusion has 3 columns for 4 classes"},
		{`[2,2,0,0]`, `[3,2,-1,0]`, "counts -1 images of class 1 as 2"},
		{`,[0,0,0,0]]}`, `]}`, "row 0 of the confusion has 4 columns for 3 classes"},
	} {
		changed := strings.Replace(string(line), tt.from, tt.to, 1)
		if changed == string(line) {
			t.Fatalf("there is no %s in %s", tt.from, line)
		}
		fatal.Says(t, fatal.Err(read(changed)), tt.want)
	}
}
