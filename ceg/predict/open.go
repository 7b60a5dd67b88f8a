package predict

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	heads "github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Predictor is an opened run. Its methods are not safe for concurrent use.
type Predictor struct {
	// Model is the trained network.
	Model *model.Model
	// Temperature divides the logits before the softmax.
	Temperature float64
	// Calibrated is true if the temperature was fitted; otherwise it is 1. Audited is true if it was
	// fitted on the audit of the opened site.
	Calibrated, Audited bool
	// SetsTemperature is the one for prediction sets, without the audit: see [site.Audited].
	SetsTemperature float64
	// Adapted is true if the class head was adapted to the opened site.
	Adapted bool
	// Sets adds a conformal prediction set to every prediction, Abstain an abstention; nil for
	// neither. See package audit.
	Sets    *audit.Sets
	Abstain *audit.Abstention
	// Novelty is the threshold of Prediction.LooksNew, nil for older runs; it is read with the
	// first prediction. Familiar has the site's own in its place, if it is not nil.
	Novelty  *audit.Novelty
	Familiar *site.Familiar
	// Known lists files of features, beside the run's own, whose clean features are reused for the
	// same images.
	Known []string

	// measured are the examples that calibration looks at, as far as truth knows them.
	measured *datasets.Dataset
	truth    datasets.Truth

	dir     string
	backend engine.Backend
	net     *model.Net
	batch   int
	// fit is how images are scaled that are looked at.
	fit rgb.Fit
	// trainedOn opens the feature vectors that the run was trained on, once: a compressed file is
	// unpacked then.
	trainedOn func() (*datasets.Vectors, error)
	// spec is the requested backend. front computes features of images there, for a run on
	// feature vectors, one for each goroutine; nil until needed.
	spec     string
	close    func()
	front    []func(dst []float32, images []byte) error
	reusable *embedding.Known // features of front that need not be computed
	// labelled are the images that the run queried, and directions their L2-normalised features;
	// nil until a prediction needs them.
	labelled   []string
	directions []float32
	usual      float64   // distance among them
	strangers  []float32 // L2-normalised features of images that show none of the classes
	blank      []float32 // and of blank images and noise
	names      *byNames  // nil for a run
}

// Open opens the run in a folder on the best backend of this machine. Training images are
// expected where the run last found them.
func Open(dir string) (*Predictor, error) { return OpenWith(run.Options{Dir: dir}) }

// OpenWith opens the run in o.Dir; of the other options it reads Root, SplitsDir and Backend. A
// calibration of other weights than the run's is an error.
func OpenWith(o run.Options) (*Predictor, error) { return openPredictor(o, readCalibration) }

// OpenUncalibrated is OpenWith without reading the run's calibration, for calibrating it again.
func OpenUncalibrated(o run.Options) (*Predictor, error) {
	return openPredictor(o, func(string, *model.Model) (*calibration.Calibration, error) { return nil, nil })
}

func openPredictor(o run.Options, calibrated func(dir string, m *model.Model) (*calibration.Calibration, error)) (*Predictor, error) {
	at, adapted, err := atSite(&o)
	if err != nil {
		return nil, err
	}
	m, truth, err := run.LoadModel(o)
	if err != nil {
		return nil, err
	}
	p := &Predictor{Model: m, Temperature: 1, measured: m.Data, truth: truth, dir: o.Dir, spec: o.Backend, fit: rgb.Fit{Size: m.Config.Data.ImageSize}}
	p.trainedOn = sync.OnceValues(func() (*datasets.Vectors, error) {
		f, _ := m.Data.Features()
		return f.OpenFew(context.Background(), "")
	})
	if m.Artifact != nil {
		p.measured, p.truth = m.Artifact.Dataset(m.Data.Name)
	}
	if m.Backbone.Vector > 0 {
		p.batch = frontBatch * runtime.GOMAXPROCS(0)
		if from := m.Scaler.Origin; from != nil {
			p.fit = from.Fit()
		}
	} else {
		p.batch = min(max(1<<19/(p.fit.Size*p.fit.Size), 8), 128) // many small images, few large ones
	}
	c, err := calibrated(o.Dir, m)
	if err != nil {
		return nil, err
	}
	if adapted != nil {
		adapt(m, adapted)
		p.Adapted = true
	} else if c != nil {
		p.Temperature, p.Calibrated = c.Source.Temperature, true
	}
	p.SetsTemperature = p.Temperature
	if at != nil && at.Temperature > 0 {
		p.Temperature, p.Calibrated, p.Audited = at.Temperature, true, true
	}
	head := o.Backend
	if s := m.Scaler; s != nil && s.Origin != nil && s.Origin.ONNX != nil {
		head = engine.BesideRuntime(head)
	}
	if p.backend, err = learner.Open(m.Config.Network.Precision, head, engine.Work{}); err != nil {
		return nil, err
	}
	p.net = model.NewNet(p.backend, m)
	return p, nil
}

// Decoding returns the rule that decodes image files, the same as in training.
func (p *Predictor) Decoding() rgb.Decoding {
	if p.Model.Backbone.Vector == 0 {
		return p.Model.Config.Data.Decode
	}
	if from := p.Model.Scaler.Origin; from != nil {
		return from.Decoding
	}
	return rgb.Stored
}

// decoder reads image files as the run reads them.
func (p *Predictor) decoder() *decoder {
	return &decoder{fit: p.fit, decoding: p.Decoding(), known: p.reusable}
}

// atSite is about the folder of a site: o must be the predictor of the site's run. Its class head
// is replaced by the head adapted to the site, if there is one. r is nil for a run.
func atSite(o *run.Options) (r *site.Record, adapted *heads.Linear, err error) {
	if !site.Is(o.Dir) {
		return nil, nil, nil
	}
	if r, err = site.Read(o.Dir); err != nil {
		return nil, nil, err
	}
	if adapted, err = site.ReadHead(o.Dir); err == nil {
		o.Dir, err = r.RunDir(o.Dir)
	}
	return r, adapted, err
}

// adapt gives a model another class head.
func adapt(m *model.Model, h *heads.Linear) {
	m.Objective.Test = nil
	m.Values = slices.Clone(m.Values)
	for i, p := range m.Params {
		from := h.Weight
		switch p.Name {
		case nets.ClassHead + ".weight":
		case nets.ClassHead + ".bias":
			from = h.Bias
		default:
			continue
		}
		m.Values[i] = make([]float32, len(from))
		for j, v := range from {
			m.Values[i][j] = float32(v)
		}
	}
}

// openFront opens the network that made the features that a run was trained on.
func openFront(dir string, m *model.Model) (*model.Front, error) {
	from := m.Scaler.Origin
	if from == nil {
		return nil, fmt.Errorf("%s was trained on feature vectors of a file that does not say what made them, as files of ledg embed do: its head alone says nothing of an image", dir)
	}
	f, err := model.OpenFront(context.Background(), *from, pretrained.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s was trained on features of network %s, which is needed for images: %w", dir, from.Network, err)
	}
	return f, nil
}

// look makes p ready to be shown images.
func (p *Predictor) look() error {
	if p.Model.Backbone.Vector == 0 || p.front != nil {
		return nil
	}
	f, err := openFront(p.dir, p.Model)
	if err != nil {
		return err
	}
	x, err := f.Extractor(context.Background(), p.spec)
	if err != nil {
		return err
	}
	paths := p.Known
	if own, ok := p.Model.Data.Features(); ok {
		paths = append(slices.Clone(paths), own.Path())
	}
	if p.names != nil {
		p.backend.Description = x.Description
		if err := model.CheckNames(p.Model.Features, x, f.Origin); err != nil {
			x.Close()
			return err
		}
	}
	if p.reusable, err = embedding.OpenKnown(paths, x, f.Origin); err != nil {
		x.Close()
		return err
	}
	p.close = func() { x.Close(); p.reusable.Close() }
	for range runtime.GOMAXPROCS(0) {
		p.front = append(p.front, x.Worker())
	}
	return nil
}

// readCalibration returns the calibration of a run whose model is m, nil if it has
// none. One of other weights, as a run that was trained on leaves it, is an error.
func readCalibration(dir string, m *model.Model) (*calibration.Calibration, error) {
	c, err := calibration.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if now := m.Digest(); c.Model != now {
		return nil, fmt.Errorf("%s belongs to the weights %.12s, but the run has the weights %.12s now: calibrate it again, or delete the file",
			filepath.Join(dir, calibration.File), c.Model, now)
	}
	return c, nil
}

// CheckCalibration returns nil if the run in o.Dir has a calibration of its weights; the error
// is fs.ErrNotExist if it has none.
func CheckCalibration(o run.Options) error {
	if _, err := calibration.Read(o.Dir); err != nil {
		return err
	}
	m, _, err := run.LoadModel(o)
	if err != nil {
		return fmt.Errorf("cannot check whether %s belongs to these weights: %v", calibration.File, err) // not ErrNotExist
	}
	_, err = readCalibration(o.Dir, m)
	return err
}

// frontBatch is the batch size, on each processor, of the frozen network in front of a run's.
const frontBatch = 8

// Backend names the backend in one line.
func (p *Predictor) Backend() string { return p.backend.Description }

// Close frees the networks and the backend.
func (p *Predictor) Close() {
	if p.close != nil {
		p.close()
	}
	if p.names == nil {
		p.net.Close()
		p.backend.Close()
	}
}

// loadLabelled computes the features of the images that the run queried.
func (p *Predictor) loadLabelled() error {
	if p.directions != nil || p.names != nil {
		return nil
	}
	if err := p.readLabelled(); err != nil {
		return err
	}
	p.usual = p.usualDistance()
	k, err := p.artifact()
	if err != nil {
		return err
	}
	if k != nil {
		if p.Novelty = k.Novelty; p.Familiar != nil {
			p.Novelty = p.Familiar.Novelty
		}
		for i := range len(k.Strangers) / max(k.Dim, 1) {
			p.strangers = append(p.strangers, direction(row(k.Strangers, i, k.Dim))...)
		}
	}
	return nil
}

// artifact is what the run has saved, also where its data set has other images; nil for nothing.
func (p *Predictor) artifact() (*artifact.Artifact, error) {
	if p.Model.Artifact != nil {
		return p.Model.Artifact, nil
	}
	return artifact.Read(p.dir)
}

// readLabelled computes them, or reads them from the run's artifact.
func (p *Predictor) readLabelled() error {
	queries, err := result.QueriesIn(p.dir)
	if err != nil {
		return err
	}
	if k := p.Model.Artifact; k != nil {
		if len(queries)*k.Dim != len(k.Features) {
			return fmt.Errorf("%s: %s has not the features of the %d images of %s", p.dir, artifact.File, len(queries), result.QueriesFile)
		}
		for i, q := range queries {
			p.labelled, p.directions = append(p.labelled, q.ID), append(p.directions, direction(row(k.Features, i, k.Dim))...)
		}
		return nil
	}
	var examples []int
	for _, q := range queries {
		i, ok := p.Model.Data.Index(q.ID)
		if !ok {
			return fmt.Errorf("%s: %s was queried, but data set %s has no such image", p.dir, q.ID, p.Model.Data.Name)
		}
		examples, p.labelled = append(examples, i), append(p.labelled, q.ID)
	}
	var all []float32
	err = p.examples(context.Background(), examples, func(_ int, features, _ []float32) {
		all = append(all, direction(features)...)
	})
	p.directions = all
	return err
}

// examples runs the network on examples of measured, in order; from the run's artifact there are
// only logits.
func (p *Predictor) examples(ctx context.Context, list []int, each func(i int, features, logits []float32)) error {
	if k := p.Model.Artifact; k != nil {
		for _, x := range list {
			each(x, nil, row(k.Logits, x, p.classes()))
		}
		return nil
	}
	return p.own(ctx, list, each)
}

// own runs the network on examples of the run's data set, in order.
func (p *Predictor) own(ctx context.Context, list []int, each func(i int, features, logits []float32)) error {
	for part := range slices.Chunk(list, p.batch) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		features, logits, err := p.known(part)
		if err != nil {
			return err
		}
		for i, x := range part {
			each(x, row(features, i, p.Model.Features), row(logits, i, p.classes()))
		}
	}
	return nil
}

// known runs the network over some examples of the run's data set, up to a batch.
func (p *Predictor) known(part []int) (features, logits []float32, err error) {
	if _, ok := p.Model.Data.Features(); ok {
		v, err := p.trainedOn()
		if err != nil {
			return nil, nil, err
		}
		var scratch []byte
		x := make([]float32, len(part)*v.Dim)
		for i, at := range part {
			if err := v.Read(at, 0, row(x, i, v.Dim), &scratch); err != nil {
				return nil, nil, err
			}
		}
		return p.vectors(x)
	}
	images := make([]*rgb.Image, len(part))
	for i, x := range part {
		if images[i], err = p.Model.Data.Image(x); err != nil {
			return nil, nil, err
		}
	}
	return p.forward(p.views(images))
}

func (p *Predictor) classes() int { return len(p.Model.Data.Classes) }

func row(m []float32, i, cols int) []float32 { return m[i*cols : (i+1)*cols] }
