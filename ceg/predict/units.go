package predict

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/predict/observations"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/detections"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Blank is the class of an image or an event without a box.
const Blank = "blank"

// unboxed is the class of an image without a box that counts: what else the detector sees, or blank.
func unboxed(m *detections.Image, score float64) string {
	class := Blank
	for _, b := range m.Boxes {
		if b.Score >= score && slices.Contains([]string{"person", "human", "vehicle"}, b.Class) {
			class, score = b.Class, b.Score
		}
	}
	return class
}

// units gathers what the journal has into predictions of images and of events.
func (p *Predictor) units(o FilesOptions, s *Summary, j *journal) (images, events []*observations.Unit, err error) {
	at := make(map[string]*observations.Unit)
	image := func(path string) *observations.Unit {
		u := at[path]
		if u == nil {
			u = &observations.Unit{Name: path, Frames: 1, Classes: map[string]int{}, Event: o.Events[path]}
			at[path], images = u, append(images, u)
		}
		return u
	}
	if s.Boxes != nil {
		for i, path := range s.Paths {
			if m := s.Boxes.Images[i]; m != nil {
				u := image(path)
				u.Detected = m
				if u.Reason = s.Boxes.Reasons[i]; m.Failure == "" {
					u.Class = unboxed(m, o.Boxes.Score)
				}
			}
		}
	}
	type sum struct {
		logits []float64
		n      int
	}
	sums := make(map[string]*sum)
	err = j.each(func(e entry) error {
		path, box, _ := rgb.CutBox(e.Path)
		u := image(path)
		if e.Error != "" {
			u.Class, u.Reason = "", e.Error
			return nil
		}
		if u.Count++; u.Count == 1 || float64(e.Probability) > u.Probability {
			u.Class, u.Probability, u.Abstained = e.Class, float64(e.Probability), e.Abstained
		}
		u.Classes[e.Class]++
		u.Items = append(u.Items, observations.Item{Box: box, Class: e.Class, Probability: float64(e.Probability), Abstained: e.Abstained})
		if u.Event == "" {
			return nil
		}
		total := sums[u.Event]
		if total == nil {
			total = &sum{logits: make([]float64, p.classes())}
			sums[u.Event] = total
		}
		if len(e.Out) != len(total.logits) {
			return fmt.Errorf("%s: %d logits, want %d", e.Path, len(e.Out), len(total.logits))
		}
		for c, v := range e.Out {
			total.logits[c] += float64(v)
		}
		total.n++
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(images, func(a, b *observations.Unit) int { return strings.Compare(a.Name, b.Name) })
	of := make(map[string]*observations.Unit)
	for _, u := range images {
		if u.Event == "" {
			continue
		}
		e := of[u.Event]
		if e == nil {
			e = &observations.Unit{Name: u.Event, Classes: map[string]int{}, Class: u.Class}
			of[u.Event], events = e, append(events, e)
		}
		if e.Frames, e.Count = e.Frames+1, max(e.Count, u.Count); e.Class == "" || e.Class == Blank && u.Class != "" {
			e.Class = u.Class
		}
		for class, n := range u.Classes {
			e.Classes[class] = max(e.Classes[class], n)
		}
	}
	for name, total := range sums {
		mean := make([]float32, len(total.logits))
		for c, v := range total.logits {
			mean[c] = float32(v / float64(total.n))
		}
		v := p.ofLogits(name, mean)
		e := of[name]
		e.Class, e.Probability, e.Abstained = v.Class, float64(v.Probability), v.Abstained
	}
	slices.SortFunc(events, func(a, b *observations.Unit) int { return strings.Compare(a.Name, b.Name) })
	return images, events, nil
}

// unitsFile is the path of a table of images or events beside a table of predictions.
func unitsFile(out, what string) string {
	return strings.TrimSuffix(out, filepath.Ext(out)) + "." + what + ".csv"
}

// writeUnits writes a row a unit; head names the first column.
func writeUnits(path, head string, list []*observations.Unit) error {
	width := 9
	if head == "event" {
		width = 7
	}
	return regular.WriteFile(path, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		rows.Write([]string{head, "class", "probability", "count", "classes", "frames", "abstained", "event", "reason"}[:width]) // its error stays for Error
		for _, u := range list {
			probability := ""
			if len(u.Classes) > 0 {
				probability = strconv.FormatFloat(u.Probability, 'g', -1, 32)
			}
			rows.Write([]string{datasets.Guard(u.Name), datasets.Guard(u.Class), probability, strconv.Itoa(u.Count), datasets.Guard(u.Counts()), strconv.Itoa(u.Frames), strconv.FormatBool(u.Abstained),
				datasets.Guard(u.Event), datasets.Guard(u.Reason)}[:width])
		}
		rows.Flush()
		return rows.Error()
	})
}
