package learner

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
)

// both runs a fixture's two networks, without and with BatchNorm.
func both(t *testing.T, c golden) {
	for _, c.Net = range []string{"cnn", "bn"} {
		c.run(t)
	}
}

func TestERM(t *testing.T) {
	both(t, golden{Fixture: "deepall", Objective: objective.ERM(objective.Passes{})})
}

func TestFixMatch(t *testing.T) {
	both(t, golden{Fixture: "fixmatch", Objective: objective.FixMatch(0.95, config.Both, objective.DomainByDomain),
		Unnamed: []string{"pseudo", "strong"}})
}

func TestMeanTeacher(t *testing.T) {
	both(t, golden{Fixture: "meanteacher", Objective: objective.MeanTeacher(),
		Now: func(step int) (epoch, steps int) { return step + 1, step + 13 }})
}

func TestCrossGrad(t *testing.T) {
	both(t, golden{Fixture: "crossgrad", Objective: objective.CrossGrad()})
}

func TestMixMatch(t *testing.T) {
	both(t, golden{Fixture: "mixmatch", Objective: objective.MixMatch(),
		Now: func(step int) (epoch, steps int) { return 0, 5998 + step }})
}

func TestDDAIG(t *testing.T) {
	both(t, golden{Fixture: "ddaig", Objective: objective.DDAIG(4),
		Now: func(step int) (epoch, steps int) { return step + 1, 0 }})
}

func TestDAEL(t *testing.T) {
	both(t, golden{Fixture: "dael", Objective: objective.DAEL(), Unnamed: []string{"weak", "strong"}})
}

func TestRSC(t *testing.T) {
	both(t, golden{Fixture: "rsc", Objective: objective.RSC(), Unnamed: []string{"masked"},
		Now: func(step int) (epoch, steps int) { return 10 * (step - 1), 0 }})
}

func TestRSCDomainBed(t *testing.T) {
	golden{Fixture: "rsc", Net: "bn_domainbed", Objective: objective.RSCDomainBed(1. / 3)}.run(t)
}

func TestJiGen(t *testing.T) {
	var orders [][]int
	for row := range slices.Chunk(nettest.Open(t, fixtures+"jigen.npz").Ints("in.permutations"), 9) {
		var o []int
		for _, tile := range row {
			o = append(o, int(tile))
		}
		orders = append(orders, o)
	}
	both(t, golden{Fixture: "jigen", Objective: objective.JiGen(orders)})
}

func TestFACT(t *testing.T) {
	both(t, golden{Fixture: "fact", Objective: objective.FACT(2, 1),
		Terms: map[string]string{"kl_ori": "KL_ori_tea", "kl_aug": "KL_aug_tea"},
		Now:   func(step int) (epoch, steps int) { return step + 1, step - 1 }})
}

// The fixture's style networks are narrow ones.
var styleChannels = [4]int{4, 6, 8, 10}

func TestStyleMatch(t *testing.T) {
	both(t, golden{Fixture: "stylematch", Objective: objective.StyleMatchOf("stylematch", objective.AdaIN(styleChannels)),
		Others: func(name string, shape []int) []float32 { return nettest.Weights(name, shape, 3, 1) }})
}
