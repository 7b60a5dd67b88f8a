package examples

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// A config of another run names its labels by their digest: their file has to be specified again.
func TestUserLabelsMissing(t *testing.T) {
	_, err := UserLabels(config.Data{Labels: "0123456789abcdef"}, t.TempDir(), "", datasets.ColumnNames{})
	fatal.Says(t, err, "digest 0123456789ab; specify this file")
}
