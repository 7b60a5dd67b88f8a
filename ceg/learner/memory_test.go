package learner

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What a learner takes at least is below the peaks that were measured on the Go backend
// and on XLA, and a learner that takes more than any machine has is refused before it
// takes anything. On a GPU the maps are not counted.
func TestMemory(t *testing.T) {
	resnet := func(width int) nets.Backbone {
		return fatal.Get(nets.New(config.Network{Name: "resnet18", Width: width, Pooling: config.MeanPool}, 0))(t)
	}
	for _, c := range []struct {
		net                nets.Backbone
		size               int
		params, maps, peak float64 // bytes
	}{
		// 11.2 million parameters of 12 bytes, and 48 images of 122,880 numbers: the image and the
		// inputs of 19 convolutions, three of them in shortcuts.
		{resnet(64), 64, 12 * 11.1e6, 48 * 4 * 120e3, 1.72e9},
		{nets.SmallCNN(64, config.MeanPool), 32, 12 * 112e3, 48 * 4 * 24e3, 0.39e9},
	} {
		b := enginetest.Open(t)
		l := fatal.Get(New(b, authorsOptions(c.net, c.size), 1))(t)
		from := c.params
		if b.Kind != engine.XLA {
			from += c.maps
		}
		if got := l.least(); !(got > from && got < c.peak/5) {
			t.Errorf("%s takes at least %.3g bytes, want above %.3g and far below %.3g", c.net.Name, got, from, c.peak)
		}
		l.Close()
	}
	huge, start := authorsOptions(resnet(8192), 4096), time.Now()
	if _, err := New(enginetest.Open(t), huge, 1); err == nil || !strings.Contains(err.Error(), "needs about ") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	many := authorsOptions(nets.SmallCNN(4, config.MeanPool), 32)
	many.PerDomain = math.MaxInt64
	fatal.Says(t, fatal.Err(New(enginetest.Open(t), many, 1)), "needs about ")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v to see that", d)
	}
}
