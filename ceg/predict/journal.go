package predict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"
	"unicode/utf8"

	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/registers"
)

// head is what a journal is of. Two calls continue each other's work only if theirs are equal.
type head struct {
	Model       string   `json:"model"`
	Temperature float64  `json:"temperature"`
	Calibrated  bool     `json:"calibrated,omitempty"`
	Images      []string `json:"images"`
	// Boxes are the items, nil for whole images.
	Boxes *datasets.Boxes `json:"boxes,omitempty"`
	// Gap and Times are those of events, 0 and empty for none.
	Gap   time.Duration `json:"gap,omitempty"`
	Times string        `json:"times,omitempty"`
	// Sets and Abstain are thresholds, nil for none.
	Sets    *float64 `json:"sets,omitempty"`
	Abstain *float64 `json:"abstain,omitempty"`
}

// entry is an item of a journal, as JSON.
type entry struct {
	Prediction
	// Raw is the path where it is not valid UTF-8, as names on the disk can be.
	Raw   []byte `json:"raw,omitempty"`
	Error string `json:"error,omitempty"`
	// Out are the logits, where events need them.
	Out []float32 `json:"logits,omitempty"`
}

// journal is the open journal of a call, with the finished part.
type journal struct {
	*shard.Journal
	sets bool // there are prediction sets and abstentions
	// events are to be predicted.
	events bool

	// done is the number of processed files, failed the number of unreadable ones.
	done, failed int
	// last is the last path, and seen a digest of all.
	last string
	seen hash.Hash
}

// openJournal begins a journal, or takes over what an interrupted call has left.
func openJournal(o FilesOptions, p *Predictor) (*journal, error) {
	h := head{Model: p.Model.Digest(), Temperature: p.Temperature, Calibrated: p.Calibrated, Images: o.Images, Boxes: o.Boxes, Gap: o.Capture.Gap, Times: o.Capture.Table}
	if p.Sets != nil {
		h.Sets = &p.Sets.Threshold
	}
	if p.Abstain != nil {
		h.Abstain = &p.Abstain.Threshold
	}
	of, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	j := &journal{sets: h.Sets != nil || h.Abstain != nil, events: o.Events != nil, seen: registers.SHA256()}
	j.Journal, err = shard.Open(shard.Shard{}.Journal(o.Out), shard.Record{Of: of}, func(item []byte, _ int64) error {
		e, err := j.decode(item)
		j.note(e)
		return err
	})
	return j, err
}

// note counts a file that is done.
func (j *journal) note(e entry) {
	j.done++
	if e.Error != "" {
		j.failed++
	}
	j.last = e.Path
	io.WriteString(j.seen, e.Path+"\x00")
}

// decode reads an item.
func (j *journal) decode(item []byte) (e entry, err error) {
	if err := json.Unmarshal(item, &e); err != nil {
		return e, fmt.Errorf("file %d: %w", j.done, err)
	}
	if e.Raw != nil {
		e.Path = string(e.Raw)
	}
	return e, nil
}

// append adds a file that is done.
func (j *journal) append(e entry) error {
	if !utf8.ValidString(e.Path) {
		e.Raw = []byte(e.Path)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("%s: %w", e.Path, err)
	}
	j.note(e)
	_, err := j.Append(b.Bytes())
	return err
}

// each reads the entries from the beginning.
func (j *journal) each(f func(e entry) error) error {
	return j.Each(func(item []byte, _ int64) error {
		e, err := j.decode(item)
		if err != nil {
			return err
		}
		return f(e)
	})
}

// images is each of the images that could be read.
func (j *journal) images(f func(p Prediction) error) error {
	return j.each(func(e entry) error {
		if e.Error != "" {
			return nil
		}
		return f(e.Prediction)
	})
}

func (j *journal) write(out string, s *Summary) error {
	s.Predicted, s.Failed = j.done-j.failed, j.failed
	if err := writeTable(out, j, &s.New); err != nil {
		return err
	}
	if j.failed > 0 {
		s.FailedFile = failedFile(out)
	}
	return writeFailed(failedFile(out), j, &s.First)
}
