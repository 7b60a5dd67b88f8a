package model

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/registers"
)

// Model is a trained network: backbone and class head of a run's last checkpoint.
type Model struct {
	Config   config.Config
	Backbone nets.Backbone
	// Params describes the parameters of the backbone, then nets.ClassHead, then the heads that
	// Objective.Test uses. Values holds their values, row-major.
	Params []nets.Param
	Values [][]float32
	// Features is the length of a feature vector.
	Features int
	// Data is the run's data set, which names the classes.
	Data *datasets.Dataset
	// Sources are the source domains of the run.
	Sources []string
	// Artifact is what the run saved about Data, so that its images need not exist; nil if nothing
	// was saved.
	Artifact *artifact.Artifact
	// Scaler standardises feature vectors before the networks; nil for images.
	Scaler *scaler.Scaler
	// Objective is the training objective. Its Test and UnitPixels determine the prediction.
	Objective objective.Objective
}

// Dims returns the sizes of the run.
func (m *Model) Dims() objective.Dims {
	return objective.Dims{Classes: len(m.Data.Classes), Domains: len(m.Sources), PerDomain: m.Config.Schedule.PerDomain,
		ImageSize: m.Config.Data.ImageSize, Backbone: m.Backbone, Features: m.Features}
}

// Vector returns the length of a data set's feature vectors, 0 for images.
func Vector(d *datasets.Dataset) int {
	if f, ok := d.Features(); ok {
		return f.Dim
	}
	return 0
}

// Load reads the trained weights of a run with config c and data set d from the checkpoint in
// dir. Low-rank adapters are merged into their layers.
func Load(dir string, c config.Config, d *datasets.Dataset) (*Model, error) {
	err := c.CheckModelCode()
	if err != nil {
		return nil, err
	}
	m := &Model{Config: c, Data: d, Objective: objective.New(c)}
	vector := Vector(d)
	if info, _ := datasets.Lookup(c.Data.Dataset); info.Vectors {
		if m.Scaler, err = scaler.Read(dir); err != nil {
			return nil, err
		}
		if vector == 0 && m.Scaler != nil {
			vector = len(m.Scaler.Mean)
		}
	}
	if m.Backbone, err = Backbone(c, vector, NetworkIn(dir, c)); err != nil {
		return nil, err
	}
	params, features, err := nets.Params(m.Backbone, c.Data.ImageSize)
	if err != nil {
		return nil, err
	}
	m.Features = features
	m.Params = append(params, nets.LinearParams(nets.ClassHead, features, len(d.Classes))...)
	for _, name := range d.Domains {
		if name != c.Data.Target {
			m.Sources = append(m.Sources, name)
		}
	}
	if m.Objective.Test != nil && m.Objective.Nets != nil {
		for _, n := range m.Objective.Nets(m.Dims()) {
			m.Params = append(m.Params, n.Params...)
		}
	}
	count := len(m.Params)
	if m.Objective.Predicts != "" { // the average's values, by the names of the others
		for _, p := range m.Params[:count:count] {
			p.Name, p.Fixed = m.Objective.Predicting(p.Name), true
			m.Params = append(m.Params, p)
		}
	}
	head := nets.DomainHead{Hidden: c.Network.DomainHidden}
	all := append(m.Params[:len(m.Params):len(m.Params)], head.Params(features, len(m.Sources))...)
	_, state, ok, err := checkpoint.Read(dir, c, all)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, checkpoint.Missing(dir)
	}
	if info, _ := datasets.Lookup(c.Data.Dataset); info.Vectors && m.Scaler == nil {
		return nil, fmt.Errorf("%s is missing: it says how the run scales its features", filepath.Join(dir, scaler.File))
	}
	m.Values = state.Weights[len(m.Params)-count : len(m.Params)]
	m.Backbone, m.Params, m.Values = imported.Merged(m.Backbone, m.Params[:count], m.Values)
	return m, nil
}

// Pixels returns the normalisation of the networks' input.
func (m *Model) Pixels() nets.Pixels { return Pixels(m.Backbone, m.Objective) }

// Pixels returns the input normalisation of an objective and a network.
func Pixels(b nets.Backbone, o objective.Objective) nets.Pixels {
	if o.UnitPixels {
		return nets.Pixels{Std: [3]float64{1, 1, 1}}
	}
	return b.Pixels.OrDefault()
}

// Trained describes in a few words what the weights were trained on.
func (m *Model) Trained() string {
	c := m.Config
	budget := c.Exploration.Budget
	if strings.HasSuffix(budget, "%") {
		budget += " of the"
	}
	trained := fmt.Sprintf("%s (%s), a budget of %s labels", c.Data.Dataset, strings.Join(m.Sources, ", "), budget)
	if w := c.Network.Weights; w != nil {
		trained = w.Data + ", then " + trained
	}
	if m.Scaler != nil && m.Scaler.Origin != nil && m.Scaler.Origin.Trained != "" {
		trained = m.Scaler.Origin.Trained + ", then a head on " + trained
	}
	return trained
}

// Digest identifies the weights: the [Digest] of their names and values.
func (m *Model) Digest() string { return Digest(m.Params, m.Values) }

// Digest returns the SHA-256 of parameters and their values, in lower-case hexadecimal.
func Digest(params []nets.Param, values [][]float32) string {
	h := registers.SHA256()
	var b []byte
	for i, p := range params {
		fmt.Fprintf(h, "%s %v\n", p.Name, p.Shape)
		b = safetensors.AppendFloats(b[:0], values[i])
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Save writes backbone and class head to a .safetensors file with torchvision's names and
// returns the file's SHA-256. Values are exact. The domain head is left out; heads that predict
// at test time are included. For a model of feature vectors the file also holds standard.mean
// and standard.scale: the model takes (x - mean) * scale of vectors that are normalised as the
// metadata say. The file is written completely or not at all.
func (m *Model) Save(to string) (digest string, err error) {
	var sd weights.StateDict
	for i, p := range m.Params {
		sd = append(sd, weights.FromFloat32(p.Name, p.Shape, m.Values[i]))
	}
	metadata := map[string]string{pretrained.DataKey: m.Trained(), "network": m.Backbone.Name}
	if s := m.Scaler; s != nil {
		sd = append(sd, weights.FromFloat32("standard.mean", []int{len(s.Mean)}, s.Mean), weights.FromFloat32("standard.scale", []int{1}, []float32{s.Scale}))
		if metadata["normalise"] = string(s.Normal); s.Normal == "" {
			metadata["normalise"] = "none"
		}
		if s.Origin != nil {
			metadata["features_of"] = fmt.Sprintf("%s, width %d, at %d pixels, %s, sha256 %s", s.Origin.Network, s.Origin.Width, s.Origin.Size, s.Origin.WeightsName, s.Origin.WeightsDigest)
		}
	}
	return weights.Save(to, sd, metadata)
}
