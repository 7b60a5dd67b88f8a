package run_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The share that RSC in DomainBed's form masks is a setting; a third is the default.
func TestRSCShare(t *testing.T) {
	losses := map[float64]result.Losses{}
	for _, share := range []float64{0, 1. / 3, 0.1} {
		c := tiny(t, "rsc-domainbed", config.Authors, "schedule.epochs", 1)
		c.Generalization.RSCShare = share
		dir, _ := trained(t, c)
		records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
		losses[share] = records[0].Loss
	}
	if !slices.Equal(losses[0], losses[1./3]) || slices.Equal(losses[0], losses[0.1]) {
		t.Errorf("losses by share: %v", losses)
	}
	for _, wrong := range []struct {
		method string
		share  float64
		want   string
	}{
		{"rsc-domainbed", 1, "rsc_share: 1, want above 0 and below 1"},
		{"rsc-domainbed", -0.1, "rsc_share: -0.1"},
		{"rsc", 0.1, "it is rsc-domainbed's alone"},
	} {
		c := tiny(t, wrong.method, config.Authors)
		if data, err := json.Marshal(c); err != nil || bytes.Contains(data, []byte("rsc_share")) {
			t.Errorf("%s has a share without being asked: %s, %v", wrong.method, data, err)
		}
		c.Generalization.RSCShare = wrong.share
		fatal.Says(t, c.Validate(), wrong.want)
	}
}
