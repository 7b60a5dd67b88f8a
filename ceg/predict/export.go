package predict

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Exported lists the files that ExportONNX has written, the network first.
type Exported []string

// ExportONNX writes the network of the run in o.Dir as an ONNX file to path to, and beside it
// labels.txt, the classes one a line; a model card, NAME.md; and a Python example, NAME.py.
// [onnx.Network] describes the network's input and outputs. Equal runs give equal files.
// Existing files that are not from an earlier export are errors, and so are a calibration of
// other weights and an objective whose classifier has no ONNX form; nothing is written then.
func ExportONNX(o run.Options, to string, input onnx.Input) (Exported, error) {
	at, err := siteOf(o.Dir)
	if err != nil {
		return nil, err
	}
	_, adapted, err := atSite(&o)
	if err != nil {
		return nil, err
	}
	m, _, err := run.LoadModel(o)
	if err != nil {
		return nil, err
	}
	var front *model.Front
	if m.Backbone.Vector > 0 {
		if from := m.Scaler.Origin; from != nil && from.ONNX != nil {
			return nil, fmt.Errorf("%s was trained on features of %s, which is not joined with the head to one file: export the head with --out NAME.safetensors", o.Dir, from.Weights)
		}
		if front, err = openFront(o.Dir, m); err != nil {
			return nil, err
		}
	}
	c, err := readCalibration(o.Dir, m)
	if err != nil {
		return nil, err
	}
	if adapted != nil { // of other weights than the calibration
		adapt(m, adapted)
		c = nil
	}
	head, ok := testHead(m)
	if !ok {
		return nil, fmt.Errorf("%s was trained for %s, whose test head is a function of its own, which has no ONNX form; objective.Experts and objective.Cosine have one", o.Dir, m.Objective.Name)
	}
	d, err := describe(o.Dir, m, front, c, to, input)
	if err != nil {
		return nil, err
	}
	if d.Site = at; at != nil && at.Calibration != nil {
		d.Temperature, d.Calibration = at.Calibration.Temperature, nil
	}
	example, err := d.fill(exampleText)
	if err != nil {
		return nil, err
	}
	d.Code = string(example)
	card, err := d.fill(cardText)
	if err != nil {
		return nil, err
	}
	stem := strings.TrimSuffix(to, filepath.Ext(to))
	labels := []byte(strings.Join(d.lines(), "\n") + "\n")
	beside := []struct {
		path, mark string
		data       []byte
	}{
		{filepath.Join(filepath.Dir(to), "labels.txt"), string(labels), labels},
		{stem + ".md", cardMark, card},
		{stem + ".py", cardMark, example},
	}
	for _, b := range beside {
		old, err := regular.Read(b.path, 64<<20)
		mine := bytes.Contains(old, []byte(b.mark))
		if b.mark == string(b.data) { // classes: others may be substrings of it
			mine = bytes.Equal(old, b.data)
		}
		if err == nil && !mine {
			return nil, fmt.Errorf("%s is there, and it is not of this export; choose another folder for %s", b.path, filepath.Base(to))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	n := onnx.Network{
		Backbone: m.Backbone, Params: m.Params, Values: m.Values, ImageSize: d.Size, Input: input,
		Mean: d.Pixels.Mean, Std: d.Pixels.Std, Temperature: d.Temperature, Head: head, Name: m.Backbone.Name, Metadata: d.metadata(),
	}
	if front != nil {
		n.Vectors = &onnx.Vectors{Backbone: m.Backbone, Normal: m.Scaler.Normal, Mean: m.Scaler.Mean, Scale: m.Scaler.Scale}
		n.Backbone, n.Name = front.Backbone, front.Backbone.Name
		for _, p := range front.Params {
			n.Params, n.Values = append(n.Params[:len(n.Params):len(n.Params)], p), append(n.Values[:len(n.Values):len(n.Values)], front.Values[p.Name])
		}
	}
	if err := regular.WriteFile(to, n.Write); err != nil {
		return nil, err
	}
	written := Exported{to}
	for _, b := range beside {
		if err := regular.Write(b.path, b.data); err != nil {
			return nil, err
		}
		written = append(written, b.path)
	}
	return written, nil
}

// testHead returns the ONNX form of the class head; ok is false if there is none.
func testHead(m *model.Model) (head onnx.Head, ok bool) {
	switch c := m.Objective.Test.(type) {
	case nil:
		return head, true
	case objective.Experts:
		return onnx.Head{Experts: c(m.Dims())}, true
	case objective.Cosine:
		return onnx.Head{Cosine: c.Param, Scale: 1 / c.Temperature}, true
	}
	return head, false
}

// cardMark is in every card and example, by which they are known again.
const cardMark = "Written by ledg export"

//go:embed card.md.tmpl
var cardText string

//go:embed example.py.tmpl
var exampleText string

// description is the description of a network in the card, the example and the metadata.
type description struct {
	Name, File string
	Config     run.Config
	Classes    []string
	Pixels     nets.Pixels
	Sources    []string
	Network    string
	Width      int
	// Started are the weights that the network started from; empty for random ones.
	Started        string
	Size, Features int
	Uint8          bool
	Photo          bool
	// Draft is the side that JPEGs keep where they are decoded at a part of their size; else 0.
	Draft       int
	Temperature float64
	Calibration *calibration.Calibration
	Result      *result.Result
	Trained     string
	Licence     string
	Digest      string
	Labels      int
	Chosen      string
	Code        string
	// Site is the report of the site that the network is exported for; nil for a run.
	Site *site.Report
	// Estimate is the run's cross-validated accuracy, nil if there is none.
	Estimate *audit.Estimate
}

// siteOf reads the report of the site in a folder, nil for a run.
func siteOf(dir string) (*site.Report, error) {
	if !site.Is(dir) {
		return nil, nil
	}
	return site.ReadReport(dir)
}

// HasTarget reports whether the run held a domain out.
func (d *description) HasTarget() bool { return d.Config.Data.Target != config.NoTarget }

func describe(dir string, m *model.Model, front *model.Front, c *calibration.Calibration, to string, input onnx.Input) (*description, error) {
	d := &description{
		Name: strings.TrimSuffix(filepath.Base(to), filepath.Ext(to)), File: filepath.Base(to),
		Config: m.Config, Classes: m.Data.Classes, Sources: m.Sources, Size: m.Config.Data.ImageSize, Features: m.Features,
		Pixels: m.Pixels(), Uint8: input == onnx.Uint8, Temperature: 1, Calibration: c, Trained: m.Trained(), Digest: m.Digest(),
		Licence: "not stated: the network was trained from scratch on the data set, whose owner may have a say",
	}
	decoding := m.Config.Data.Decode
	if front != nil {
		decoding = front.Origin.Decoding
	}
	d.Photo, d.Draft = decoding != rgb.Stored, decoding.Least()
	if c != nil {
		d.Temperature = c.Source.Temperature
	}
	d.Network, d.Width = m.Config.Network.Name, m.Config.Network.Width
	w := m.Config.Network.Weights
	if d.Network == config.Imported {
		d.Network, d.Width = w.Name, 0 // as the file has it
	}
	if w != nil {
		d.Started = w.String()
	}
	if front != nil {
		from := front.Origin
		d.Size, d.Pixels, d.Network, d.Width, d.Started = from.Size, front.Backbone.Pixels.OrDefault(), from.Network, from.Width, from.WeightsName+", and left as it was"
		w = &config.Weights{Name: from.WeightsName, Licence: from.Licence}
	}
	if w != nil {
		d.Licence = "not stated by the weights that training started from, " + w.Name
		if w.Licence != "" {
			d.Licence = w.Licence + " (of the weights that training started from, " + w.Name + ")"
		}
	}
	unqueried := 0
	queries, err := result.QueriesIn(dir)
	if err != nil {
		return nil, err
	}
	if result.Finished(os.DirFS(dir)) {
		r, err := result.ReadResult(os.DirFS(dir), result.ResultFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		d.Result, unqueried = &r, r.Unqueried
		k, err := artifact.Read(dir)
		if err != nil {
			return nil, err
		}
		if k != nil && !r.Accuracy.Measured() {
			d.Estimate = k.Estimate
		}
	}
	x := m.Config.Exploration
	d.Labels, d.Chosen = len(queries), result.Chosen(queries, unqueried, x.Initial, x.Strategy)
	return d, nil
}

// metadata are the pairs in the file. The names are a JSON object from index to
// name, in the order of the outputs.
func (d *description) metadata() [][2]string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	triple := func(v [3]float64) string { return fmt.Sprintf("[%s,%s,%s]", number(v[0]), number(v[1]), number(v[2])) }
	var names strings.Builder
	for i, name := range d.Classes {
		quoted, _ := json.Marshal(name)                              // strings always encode
		fmt.Fprintf(&names, `%c"%d":%s`, "{,"[min(i, 1)], i, quoted) // in order, unlike a map
	}
	layout, values := "NCHW", "float32, 0 to 1"
	if d.Uint8 {
		layout, values = "NHWC", "uint8, 0 to 255"
	}
	decode := "as stored, the EXIF orientation not applied"
	if d.Photo {
		decode = "EXIF orientation applied, transparency on white"
		if d.Draft > 0 {
			decode += fmt.Sprintf(", JPEGs at 1/2, 1/4 or 1/8 of their size while both sides keep %d pixels", d.Draft)
		}
	}
	list := [][2]string{
		{"names", names.String() + "}"},
		{"task", "classify"},
		{"imgsz", fmt.Sprintf("[%d,%d]", d.Size, d.Size)},
		{"layout", layout},
		{"values", values},
		{"channels", "RGB"},
		{"resize", "to imgsz, the aspect ratio not kept"},
		{"interpolation", "bilinear, antialiased as in Pillow"},
		{"normalisation", "inside the network"},
		{"decode", decode},
		{"mean", triple(d.Pixels.Mean)},
		{"std", triple(d.Pixels.Std)},
		{"temperature", number(d.Temperature)},
		{"network", d.Network},
		{"trained_on", d.Trained},
		{"method", d.Config.Method},
		{"labels_spent", strconv.Itoa(d.Labels)},
		{"weights_sha256", d.Digest},
		{"license", d.Licence},
	}
	if r := d.Site; r != nil {
		list = append(list, [2]string{"site", r.Site}, [2]string{"site_says", r.Sentence})
		for _, s := range r.Sets { // classes of a probability of at least 1 less the threshold
			if s.Sets != nil {
				list = append(list, [2]string{"sets_" + number(s.Coverage), number(1 - s.Sets.Threshold)})
			}
		}
		for _, a := range r.Abstain {
			list = append(list, [2]string{"abstain_" + number(a.Share), number(a.Threshold)})
		}
	}
	if r := d.Result; r != nil {
		if r.Accuracy.Measured() {
			list = append(list, [2]string{"target_accuracy_last_epoch", number(r.Accuracy.LastEpoch.TargetAccuracy)})
		}
		if r.Images != "" {
			list = append(list, [2]string{"dataset_digest", r.Images})
		}
	}
	return list
}

// lines are the classes one a line: a line break in a name would shift all names
// after it.
func (d *description) lines() []string {
	var list []string
	for _, name := range d.Classes {
		list = append(list, strings.NewReplacer("\n", " ", "\r", " ").Replace(name))
	}
	return list
}

func (d *description) fill(text string) ([]byte, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"percent": func(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) },
		"three":   func(v float64) string { return fmt.Sprintf("%.3f", v) },
		"md":      markdown,
		"next":    func(n int) int { return n + 1 }, // epochs count from 1 where people read them
		"join":    func(list []string) string { return markdown(strings.Join(list, ", ")) },
		"json": func(v any) (string, error) {
			b, err := json.Marshal(v)
			return string(b), err
		},
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, d)
	return b.Bytes(), err
}

// markdown escapes a name for a card: it stays on its line and is no markup.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ':
			r = ' '
		case strings.ContainsRune("\\`*_[]<>|#&", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
