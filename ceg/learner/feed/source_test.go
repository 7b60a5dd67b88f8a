package feed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// rows is a source of three numbers for each example, as stored features are: of
// its plain and its weak view.
type rows struct{ n int }

func (rows) Shape() []int        { return []int{3} }
func (r rows) Len() int          { return r.n }
func (rows) DType() dtypes.DType { return dtypes.Float32 }
func (rows) Reader() Reader      { return new(rowReader) }

func (rows) Check(v augment.View) error {
	if v.Name == augment.StrongView.Name {
		return fmt.Errorf("there is no strong view of features")
	}
	return nil
}

type rowReader struct{ at int }

func (r *rowReader) Read(i int) error {
	r.at = i
	return nil
}

func (r *rowReader) View(v augment.View, dst []byte, _ *rand.Rand) error {
	row := Values(dtypes.Float32, dst).([]float32)
	for j := range row {
		row[j] = rowValue(r.at, v.Name, j)
	}
	return nil
}

func rowValue(i int, view string, j int) float32 {
	if view == augment.WeakView.Name {
		i = -i
	}
	return float32(i) + float32(j)/8
}

func TestRowsOfNumbers(t *testing.T) {
	source := rows{40}
	l, err := New(source, Config{Seed: 1, Domains: names(2), Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	both := []augment.View{augment.PlainView, augment.WeakView}
	take(t, l, 0, Subsets{Labelled: testSubset(both, 0, 5, 5), Unlabelled: testSubset(both, 10, 20, 10).without()}, func(b *Batch) {
		for _, sub := range []*SubBatch{&b.Labelled, &b.Unlabelled} {
			for _, v := range both {
				got := Values(dtypes.Float32, sub.View(v.Name)).([]float32)
				var want []float32
				for _, i := range sub.Example {
					for j := range 3 {
						want = append(want, rowValue(i, v.Name, j))
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("view %s of %v is %v, want %v", v.Name, sub.Example, got, want)
				}
			}
		}
	})
	for b, err := range EvalBatches(t.Context(), source, []int{7, 9, 8}, 2) {
		if err != nil {
			t.Fatal(err)
		}
		want := []float32{7, 7.125, 7.25, 9, 9.125, 9.25}
		if b.Start > 0 {
			want = []float32{8, 8.125, 8.25, 0, 0, 0}
		}
		if got := Values(dtypes.Float32, b.Plain); !slices.Equal(got.([]float32), want) {
			t.Errorf("batch at %d is %v, want %v", b.Start, got, want)
		}
	}
	_, err = l.Epoch(1, Subsets{Labelled: testSubset(strong, 0, 5, 5)})
	if want := "feed: labelled subset: there is no strong view of features"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
