package ceg

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
)

func TestHeavyNetworks(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
		want bool
	}{
		{"smallcnn", 32, false}, {"smallcnn", 64, false}, {"smallcnn", 65, true},
		{"resnet18", 32, true}, {"resnet50", 224, true},
		{"efficientnet-lite0", 224, false}, {"linear", 0, false}, {"mlp", 0, false},
	} {
		if got := Work(config.Network{Name: c.name}, c.size).Heavy; got != c.want {
			t.Errorf("%s, %d pixels: %v, want %v", c.name, c.size, got, c.want)
		}
	}
}
