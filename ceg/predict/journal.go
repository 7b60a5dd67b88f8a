package predict

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// journal keeps what is done beside the table that is to be written: a line of JSON
// a file, and the features as they are in memory. The first line says of what.
type journal struct {
	rows     *os.File
	features *os.File // nil without embeddings
	lock     *flock.Flock
	parts    []*journal // of a merged one, which has no files of its own
	dim      int
	taken    bool // the files are this call's
	sets     bool // the table has what sets and abstention say

	// done is the number of files, failed how many of them could not be read, and
	// last the last one.
	done, failed int
	last         string
	// seen is a digest of the set of all paths.
	seen pathSet
}

// pathSet is a digest of a set of paths in any order: the sum of their hashes.
type pathSet uint64

func (s *pathSet) add(path string) {
	h := fnv.New64a()
	io.WriteString(h, path)
	*s += pathSet(h.Sum64())
}

// head is the first line of a journal. Two calls go on with each other's work only
// if theirs are equal.
type head struct {
	Model       string   `json:"model"`
	Temperature float64  `json:"temperature"`
	Images      []string `json:"images"`
	Features    int      `json:"features"`
	// Sets and Abstain are thresholds, nil for none.
	Sets    *float64 `json:"sets,omitempty"`
	Abstain *float64 `json:"abstain,omitempty"`

	// Of a part: where the features are to be, from the table's folder, a digest of the
	// paths of all files, and what computes.
	Embeddings string `json:"embeddings,omitempty"`
	Listing    string `json:"listing,omitempty"`
	Engine     string `json:"engine,omitempty"`
}

// entry is any other line.
type entry struct {
	Prediction
	// Raw is the path where it is no text: a name on the disk need not be.
	Raw   []byte `json:"raw,omitempty"`
	Error string `json:"error,omitempty"`
}

// restore gives a decoded entry its path.
func (e *entry) restore() {
	if e.Raw != nil {
		e.Path = string(e.Raw)
	}
}

// journalFiles are the files of a journal. That of a part is what the part leaves.
func journalFiles(out string, part shard.Part) (rows, features string) {
	if part.Whole() {
		return out + ".part", out + ".features.part"
	}
	rows = part.File(out)
	return rows, rows + ".features"
}

// lockSuffix ends the name of a journal's lock.
const lockSuffix = ".lock"

// openJournal begins a journal, or takes over what an interrupted call has left.
func openJournal(o FilesOptions, p *Predictor, l *listing) (_ *journal, err error) {
	rows, features := journalFiles(o.Out, o.Part)
	j := &journal{dim: p.Model.Features, lock: regular.NewLock(rows + lockSuffix)}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	switch ok, err := j.lock.TryLock(); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%s: another process is writing it", o.Out)
	}
	h := head{Model: p.Model.Digest(), Temperature: p.Temperature, Images: o.Images}
	if p.Sets != nil {
		h.Sets = &p.Sets.Threshold
	}
	if p.Abstain != nil {
		h.Abstain = &p.Abstain.Threshold
	}
	j.sets = p.Sets != nil || p.Abstain != nil
	if o.Embeddings != "" {
		h.Features = j.dim
		if j.features, err = regular.Own(features, 0); err != nil {
			return nil, err
		}
	}
	if j.rows, err = regular.Own(rows, 0); err != nil {
		return nil, err
	}
	line, err := json.Marshal(h)
	if err == nil && !o.Part.Whole() {
		h.Listing, h.Engine = fmt.Sprintf("%d, %016x", l.total, uint64(l.seen)), p.backend.Description
		if h.Embeddings, err = besideTable(o); err != nil {
			return nil, err
		}
		line, err = partLine(o.Part, l.total, h)
	}
	if err != nil {
		return nil, err
	}
	err = j.resume(append(line, '\n'))
	j.taken = err == nil
	return j, err
}

// resume reads a journal as far as it is whole, and cuts off the rest.
func (j *journal) resume(first []byte) error {
	r := bufio.NewReaderSize(j.rows, 1<<16)
	line, err := bufio.NewReader(io.LimitReader(j.rows, int64(len(first)))).ReadBytes('\n')
	if errors.Is(err, io.EOF) && bytes.HasPrefix(first, line) { // new, or killed before its first line was whole
		if j.features != nil {
			if info, err := j.features.Stat(); err != nil || info.Size() > 0 {
				return cmp.Or(err, fmt.Errorf("%s is not of an interrupted call: move it away", j.features.Name()))
			}
		}
		if err := j.truncate(0, 0); err != nil {
			return err
		}
		_, err := j.rows.Write(first)
		return err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(line, first) {
		return fmt.Errorf("%s was left by an interrupted call with other weights, images or embeddings, of other files, or by another program: make the same call to go on, or delete it", j.rows.Name())
	}
	room := int64(math.MaxInt64)
	if j.features != nil {
		info, err := j.features.Stat()
		if err != nil {
			return err
		}
		room = info.Size() / int64(4*j.dim)
	}
	whole := int64(len(line))
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s: file %d: %w", j.rows.Name(), j.done+1, err)
		}
		e.restore()
		if e.Error == "" && int64(j.done-j.failed) == room {
			break
		}
		whole += int64(len(line))
		j.note(e)
	}
	return j.truncate(whole, int64(j.done-j.failed))
}

// truncate keeps so many bytes of lines and rows of features.
func (j *journal) truncate(bytes, rows int64) error {
	cut := func(f *os.File, n int64) error {
		if err := f.Truncate(n); err != nil {
			return err
		}
		_, err := f.Seek(n, io.SeekStart)
		return err
	}
	if j.features != nil {
		if err := cut(j.features, rows*int64(4*j.dim)); err != nil {
			return err
		}
	}
	return cut(j.rows, bytes)
}

// encode adds the line of a file that is done.
func (j *journal) encode(b *bytes.Buffer, e entry) error {
	if !utf8.ValidString(e.Path) {
		e.Raw = []byte(e.Path)
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("%s: %w", e.Path, err)
	}
	j.note(e)
	return nil
}

// note counts a file that is done.
func (j *journal) note(e entry) {
	j.done++
	j.last = e.Path
	j.seen.add(e.Path)
	if e.Error != "" {
		j.failed++
	}
}

// append writes a batch, features first: lines without features would be lost.
func (j *journal) append(lines []byte, features []float32) error {
	if j.features != nil {
		b := make([]byte, 0, 4*len(features))
		for _, v := range features {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		if _, err := j.features.Write(b); err != nil {
			return err
		}
	}
	_, err := j.rows.Write(lines)
	return err
}

// each reads the entries from the beginning.
func (j *journal) each(f func(e entry) error) error {
	for _, p := range j.parts {
		if err := p.each(f); err != nil {
			return err
		}
	}
	if j.rows == nil {
		return nil
	}
	d := json.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(j.rows, 0, math.MaxInt64), 1<<16))
	var first json.RawMessage
	if err := d.Decode(&first); err != nil {
		return err
	}
	for d.More() {
		var e entry
		if err := d.Decode(&e); err != nil {
			return err
		}
		e.restore()
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// close leaves what is done, if there is anything, for the next call.
func (j *journal) close() {
	j.closeFiles() // Windows removes none that is open
	if j.taken && j.done == 0 {
		for _, f := range []*os.File{j.rows, j.features} {
			if f != nil {
				os.Remove(f.Name())
			}
		}
		os.Remove(j.lock.Path())
	}
	j.lock.Unlock()
}

func (j *journal) closeFiles() {
	for _, f := range []*os.File{j.rows, j.features} {
		if f != nil {
			f.Close()
		}
	}
}

// write writes the tables.
func (j *journal) write(out, embeddings string, s *Summary) error {
	s.Predicted, s.Failed, s.Embeddings, s.Features = j.done-j.failed, j.failed, embeddings, j.dim
	if err := writeTable(out, j); err != nil {
		return err
	}
	if err := writeEmbeddings(embeddings, j); err != nil {
		return err
	}
	s.FailedFile = failedFile(out)
	if err := writeFailed(s.FailedFile, j, &s.First); err != nil {
		return err
	}
	if j.failed == 0 {
		s.FailedFile = ""
	}
	return nil
}

// finish writes the tables and removes the journal.
func (j *journal) finish(out, embeddings string, s *Summary) error {
	if err := j.write(out, embeddings, s); err != nil {
		return err
	}
	for _, f := range []*os.File{j.rows, j.features} { // while nobody else can take them over
		if f == nil {
			continue
		}
		f.Close()
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	return j.release()
}

// release leaves the files as they are.
func (j *journal) release() error {
	j.taken = false
	j.close()
	return os.Remove(j.lock.Path())
}

// Picture reads an image file as a viewer shows it, at its own size.
func Picture(path string) (*rgb.Image, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := rgb.Photo.Decode(context.Background(), data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Clean(path), err)
	}
	return m, nil
}
