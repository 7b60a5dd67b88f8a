package result

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestVerify(t *testing.T) {
	records := history([2]int{3, 4}, [2]int{7, 9}, [2]int{6, 8})
	if err := sampleResult(t).Verify(records); err != nil {
		t.Errorf("a true result: %v", err)
	}
	for _, tt := range []struct {
		change func(*Result)
		want   string
	}{
		{func(r *Result) { r.Epochs = 4 }, "epochs is 4, the records give 3"},
		{func(r *Result) { r.Labels = 19 }, "labels is 19, the records give 20"},
		{func(r *Result) { r.ValLabels = 0 }, "val_labels is 0, the records give 8"},
		{func(r *Result) { r.Accuracy.LastEpoch.Target.Correct++ }, "accuracy.last_epoch.target is 9/10, the records give 8/10"},
		{func(r *Result) { r.Accuracy.BestTarget.Epoch = 2 }, "accuracy.best_target.epoch is 2, the records give 1"},
		{func(r *Result) { r.Accuracy.BestTarget.Labels = 20 }, "accuracy.best_target.labels is 20, the records give 12"},
		{func(r *Result) { r.Accuracy.BestSourceVal = nil }, "accuracy.best_source_val is null, the records give epoch 1"},
		{func(r *Result) { r.Accuracy.BestSourceVal.SourceVal.Correct = 0 }, "accuracy.best_source_val.source_val is 0/8, the records give 7/8"},
	} {
		r := sampleResult(t)
		tt.change(&r)
		if err := r.Verify(records); err == nil || err.Error() != tt.want {
			t.Errorf("error is %v, want %s", err, tt.want)
		}
	}
	fatal.Says(t, sampleResult(t).Verify(nil), "no records")
}
