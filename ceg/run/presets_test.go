package run

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// On glyphs the preset is authors with labels upfront, in as many epochs: the domain head that it
// leaves out takes no part in what the other networks learn.
func TestPresetLedgOnGlyphs(t *testing.T) {
	var accuracy []result.Accuracy
	for _, preset := range []config.Preset{config.Ledg, config.Authors} {
		c := configtest.New(t, "glyphs", "photo", "uniform", preset, "schedule.timing", config.Once, "schedule.epochs", 2)
		c.Data.ImageSize, c.Network.Width, c.Schedule.PerDomain = 16, 4, 8
		dir := filepath.Join(t.TempDir(), "run")
		fatal.Get(Run(t.Context(), c, Options{Dir: dir, Backend: "go"}))(t)
		records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
		accuracy = append(accuracy, records[1].Accuracy...)
	}
	if half := len(accuracy) / 2; !reflect.DeepEqual(accuracy[:half], accuracy[half:]) {
		t.Errorf("accuracies %v, want %v", accuracy[:half], accuracy[half:])
	}
}
