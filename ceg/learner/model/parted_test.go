package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The back of a network on what its front makes of images predicts what the whole does on the
// images, and a step changes the same weights by the same.
func TestFrontAndBackAreTheWhole(t *testing.T) {
	backend := fatal.Get(engine.Open("go"))(t)
	t.Cleanup(backend.Close)
	const size, classes, domains = 32, 3, 2
	for _, c := range []struct {
		network, freeze, method string
		maps                    [3]int // height, width, channels
	}{
		{"smallcnn", "2", "fixmatch", [3]int{8, 8, 8}},
		{"resnet18", "3", "uniform-ce", [3]int{4, 4, 16}},
		{"resnet50", "1", "uniform-ce", [3]int{8, 8, 8}},
		{"efficientnet-lite0", "4", "fixmatch", [3]int{4, 4, 16}},
		{"efficientnet-lite0", "7", "uniform-ce", [3]int{1, 1, 48}},
		{"smallcnn", "head", "fixmatch", [3]int{1, 1, 32}},
		{"efficientnet-lite0", "head", "uniform-ce", [3]int{1, 1, 320}},
	} {
		t.Run(c.network+" "+c.freeze, func(t *testing.T) {
			k := configtest.New(t, "glyphs", "sketch", c.method, config.Authors, "network.name", c.network, "network.width", 8,
				"network.freeze", c.freeze, "schedule.per_domain", 3, "data.image_size", size, "data.views", 3)
			b := fatal.Get(model.Backbone(k, 0, ""))(t)
			p := fatal.Get(nets.Part(b, size))(t)
			if p.Maps != c.maps {
				t.Fatalf("maps of %v, want %v", p.Maps, c.maps)
			}
			whole := model.LearnerOptions(b, k, classes, domains)
			back := whole
			back.Back, back.Maps = p.Back, c.maps
			var learners [2]*learner.Learner
			for i, o := range []learner.Options{whole, back} {
				learners[i] = fatal.Get(learner.New(backend, o, 1))(t)
				defer learners[i].Close()
			}
			state := func(l *learner.Learner) (values map[string][]float32, params []nets.Param) {
				s := fatal.Get(l.State())(t)
				values = map[string][]float32{}
				for i, p := range l.Params() {
					values[p.Name] = s.Weights[i]
				}
				return values, l.Params()
			}
			values, _ := state(learners[0])
			x := fatal.Get(model.FrontExtractor(backend, p, b.Pixels.OrDefault(), size, values))(t)
			defer x.Close()
			front := x.Worker()
			maps := func(images []byte) []float32 {
				v := make([]float32, len(images)/(3*size*size)*x.FeatureDim())
				fatal.If(t, front(v, images))
				return v
			}

			batch := learners[0].RandomBatch()
			mapped := learner.Batch{}
			var images []byte
			for name, v := range batch {
				if pixels, ok := v.([]uint8); ok {
					images = pixels
					v = maps(pixels)
				}
				mapped[name] = v
			}
			var predicted [2]learner.Prediction
			for i, views := range []any{images, maps(images)} {
				predicted[i] = fatal.Get(learners[i].Predict(views))(t)
			}
			nettest.Near(t, "features", predicted[1].Features, predicted[0].Features, 1e-4, 1e-4)
			nettest.Near(t, "class logits", predicted[1].ClassLogits, predicted[0].ClassLogits, 1e-4, 1e-4)

			now := learner.Now{Rates: learner.Rates{Backbone: 0.1, ClassHead: 0.1, DomainHead: 0.1}}
			for i, b := range []learner.Batch{batch, mapped} {
				fatal.Get(learners[i].Step(b, now, learner.Stage{}))(t)
			}
			of, params := state(learners[0])
			got, _ := state(learners[1])
			moved := 0
			for _, p := range params {
				nettest.Near(t, p.Name, got[p.Name], of[p.Name], 1e-5, 1e-4)
				if p.Trained() && !strings.HasPrefix(p.Name, objective.DomainHead) {
					if fmt.Sprint(of[p.Name]) == fmt.Sprint(values[p.Name]) {
						t.Errorf("%s has not learnt", p.Name)
					}
					moved++
				}
			}
			if moved == 0 {
				t.Error("nothing learns")
			}
		})
	}
}

func TestNoFront(t *testing.T) {
	for _, c := range []struct{ network, freeze, want string }{
		{"resnet18", "norm", "the first layer of network resnet18-w8 learns, so there is nothing to compute once: freeze its first stages"},
		{"smallcnn", "", "the first layer of network smallcnn-w8-flatten learns"},
	} {
		k := configtest.New(t, "glyphs", "sketch", "uniform-ce", config.Authors, "network.name", c.network, "network.width", 8)
		k.Network.Freeze = config.Freeze(c.freeze)
		b := fatal.Get(model.Backbone(k, 0, ""))(t)
		fatal.Says(t, fatal.Err(nets.Part(b, 32)), c.want)
	}
}
