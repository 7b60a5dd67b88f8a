package predict

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/calibration"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/model"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Predictor is an opened run. Its methods must not be called concurrently.
type Predictor struct {
	// Model is what the run trained.
	Model *model.Model
	// Temperature divides the logits before the softmax.
	Temperature float64
	// Calibrated says that the temperature was fitted; it is 1 otherwise.
	Calibrated bool

	truth   datasets.Truth
	dir     string
	backend engine.Backend
	net     *model.Net
	batch   int
	// labelled are the images that the run asked about, and directions their
	// features at length 1; nil until a prediction needs them.
	labelled   []string
	directions []float32
}

// Open opens the run in a directory on the backend that is best here. Images that
// the run was trained on are looked for where it last found them.
func Open(dir string) (*Predictor, error) { return OpenWith(ceg.Options{Dir: dir}) }

// OpenWith opens the run in o.Dir; of the other options Root, SplitsDir and
// Backend count. A calibration of other weights than the run's is an error.
func OpenWith(o ceg.Options) (*Predictor, error) { return openPredictor(o, readCalibration) }

// OpenUncalibrated is OpenWith without the run's calibration, for which it does not
// look, as one that is to be calibrated again needs it.
func OpenUncalibrated(o ceg.Options) (*Predictor, error) {
	return openPredictor(o, func(string, *model.Model) (*calibration.Calibration, error) { return nil, nil })
}

func openPredictor(o ceg.Options, calibrated func(dir string, m *model.Model) (*calibration.Calibration, error)) (*Predictor, error) {
	m, truth, err := ceg.LoadModel(o)
	if err != nil {
		return nil, err
	}
	if err := ofImages(o.Dir, m); err != nil {
		return nil, err
	}
	p := &Predictor{Model: m, Temperature: 1, truth: truth, dir: o.Dir, batch: batchOf(m.Config.Data.ImageSize)}
	c, err := calibrated(o.Dir, m)
	if err != nil {
		return nil, err
	}
	if c != nil {
		p.Temperature, p.Calibrated = c.Source.Temperature, true
	}
	if p.backend, err = learner.Open(m.Config.Network.Precision, o.Backend, engine.Work{}); err != nil {
		return nil, err
	}
	p.net = model.NewNet(p.backend, m)
	return p, nil
}

// ofImages returns an error if a model does not take images.
func ofImages(dir string, m *model.Model) error {
	if m.Backbone.Vector == 0 {
		return nil
	}
	return fmt.Errorf("%s was trained on feature vectors, which another network has made of images: its head alone says nothing of an image, so there are no predictions, no calibration and no ONNX of it", dir)
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
		return nil, fmt.Errorf("%s is of the weights %.12s, and those of the run are %.12s now: calibrate it again, or delete the file",
			filepath.Join(dir, calibration.File), c.Model, now)
	}
	return c, nil
}

// CheckCalibration returns nil if the run in o.Dir has a calibration of the weights that
// it has. The error is fs.ErrNotExist if it has none.
func CheckCalibration(o ceg.Options) error {
	if _, err := calibration.Read(o.Dir); err != nil {
		return err
	}
	m, _, err := ceg.LoadModel(o)
	if err != nil {
		return fmt.Errorf("whether %s is of these weights cannot be told: %v", calibration.File, err) // not ErrNotExist
	}
	_, err = readCalibration(o.Dir, m)
	return err
}

// batchOf is how many images of a size go through the network at once: many small
// ones, few large ones.
func batchOf(size int) int { return min(max(1<<19/(size*size), 8), 128) }

// Backend says in one line what computes.
func (p *Predictor) Backend() string { return p.backend.Description }

// Close frees what the predictor holds.
func (p *Predictor) Close() {
	p.net.Close()
	p.backend.Close()
}

// loadLabelled computes the features of the images that the run asked about.
func (p *Predictor) loadLabelled() error {
	if p.directions != nil {
		return nil
	}
	queries, err := result.ReadQueries(os.DirFS(p.dir), result.QueriesFile)
	if err != nil {
		return fmt.Errorf("%s: %w", p.dir, err)
	}
	var examples []int
	for _, q := range queries {
		i, ok := p.Model.Data.Index(q.ID)
		if !ok {
			return fmt.Errorf("%s: %s was asked for, but data set %s has no such image", p.dir, q.ID, p.Model.Data.Name)
		}
		examples, p.labelled = append(examples, i), append(p.labelled, q.ID)
	}
	var all []float32
	err = p.examples(examples, func(_ int, features, _ []float32) {
		all = append(all, direction(features)...)
	})
	p.directions = all
	return err
}

// examples runs the network over images of the run's data set, in order.
func (p *Predictor) examples(list []int, each func(i int, features, logits []float32)) error {
	for start := 0; start < len(list); start += p.batch {
		part := list[start:min(start+p.batch, len(list))]
		views := make([]*rgb.Image, len(part))
		for i, x := range part {
			m, err := p.Model.Data.Image(x)
			if err != nil {
				return err
			}
			views[i] = m
		}
		features, logits, err := p.forward(p.views(views))
		if err != nil {
			return err
		}
		for i, x := range part {
			each(x, row(features, i, p.Model.Features), row(logits, i, p.classes()))
		}
	}
	return nil
}

func (p *Predictor) classes() int { return len(p.Model.Data.Classes) }

func row(m []float32, i, cols int) []float32 { return m[i*cols : (i+1)*cols] }

// views scales images to a full batch, black where there is none.
func (p *Predictor) views(images []*rgb.Image) []uint8 {
	size := p.Model.Config.Data.ImageSize
	n := 3 * size * size
	views := make([]uint8, p.batch*n)
	for i, m := range images {
		if m != nil {
			m.ResizeInto(&rgb.Image{Width: size, Height: size, Pix: views[i*n : (i+1)*n : (i+1)*n]})
		}
	}
	return views
}

// forward runs the network over a full batch.
func (p *Predictor) forward(views []uint8) (features, logits []float32, err error) {
	out, err := p.net.Run(views)
	if err != nil {
		return nil, nil, fmt.Errorf("predict: %w", err)
	}
	return out[0], out[1], nil
}
