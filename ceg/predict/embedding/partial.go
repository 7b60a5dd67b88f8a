package embedding

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// maker is all that a row of features depends on but the image.
type maker struct {
	Origin json.RawMessage `json:"origin"`
	Views  int             `json:"views"`
	Half   bool            `json:"half"`
	Dim    int             `json:"dim"`
	By     string          `json:"by"`
}

// makerLine describes who makes rows, in a line.
func makerLine(x *model.Extractor, o Options) ([]byte, error) {
	how := o.Origin
	how.Dataset, how.Root, how.Beside, how.FollowLinks, how.Trained, how.Licence, how.Exclude, how.Layout, how.SiteRule = "", "", "", false, "", "", nil, "", ""
	origin, err := json.Marshal(how)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(maker{origin, o.Views, o.Half, x.FeatureDim(), x.Description})
	return append(line, '\n'), err
}

// key tells an image, and the random choices of its views, which are drawn from its ID.
type key = [sha256.Size]byte

func keyOf(id, digest string) key { return sha256.Sum256([]byte(digest + " " + id)) }

// rows are those that were computed before, by the same maker.
type rows map[key]place

// place is where a row stands.
type place struct {
	file io.ReaderAt
	at   int64
}

// add adds the rows of a file that an earlier embedding has finished, if they are by the same
// maker. A file that is none has no rows.
func (r rows) add(f *os.File, line []byte, rowBytes int) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	h, err := safetensors.ParseHeader(f, info.Size())
	if err != nil || h.Metadata[makerKey] != strings.TrimSuffix(string(line), "\n") {
		return
	}
	x, ok := h.Lookup("features")
	ids, err := texts(h, "ids")
	if !ok || err != nil {
		return
	}
	digests, err := texts(h, "digests")
	if err != nil || len(ids) != len(digests) || x.Bytes() != int64(len(ids))*int64(rowBytes) {
		return
	}
	for i, id := range ids {
		r[keyOf(id, digests[i])] = place{x.Data(), int64(i) * int64(rowBytes)}
	}
}

// texts reads a tensor of JSON strings, one a line.
func texts(h *safetensors.Header, name string) (list []string, err error) {
	x, ok := h.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("no tensor %s", name)
	}
	d := json.NewDecoder(io.NewSectionReader(x.Data(), 0, x.Bytes()))
	for {
		var s string
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
}

// partialFile is the file of rows that are computed already while not all are: after a
// line that says by what, each with its key. So an embedding that was killed goes on where
// it was, whatever was added to the images meanwhile.
type partialFile struct {
	file *os.File
	rows int // that it had when it was opened
}

// maxLine is the longest first line, in bytes.
const maxLine = 1 << 20

// openPartial opens the partial file at a path, or begins one, and adds its rows. Those of
// another maker, or one that is not whole, are thrown away. A file of another kind is an
// error.
func openPartial(path string, line []byte, rowBytes int, known rows) (_ *partialFile, err error) {
	f, err := regular.Own(path, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	first, err := bufio.NewReader(io.LimitReader(f, maxLine)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(first))
	d.DisallowUnknownFields()
	if d.Decode(new(maker)) != nil && !bytes.HasPrefix(line, first) {
		return nil, fmt.Errorf("%s: is not of an interrupted embedding: move it away", path)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p := &partialFile{file: f}
	start, one := int64(len(line)), int64(len(key{})+rowBytes)
	if bytes.Equal(first, line) {
		p.rows = int((info.Size() - start) / one)
	} else {
		if err := f.Truncate(0); err != nil {
			return nil, err
		}
		if _, err := f.WriteAt(line, 0); err != nil {
			return nil, err
		}
	}
	var k key
	for i := range p.rows {
		at := start + int64(i)*one
		if err := regular.ReadAt(f, k[:], at); err != nil {
			return nil, err
		}
		known[k] = place{f, at + int64(len(k))}
	}
	end := start + int64(p.rows)*one
	if err := f.Truncate(end); err != nil {
		return nil, err
	}
	_, err = f.Seek(end, io.SeekStart)
	return p, err
}

// add appends a row.
func (p *partialFile) add(k key, row []byte) error {
	_, err := p.file.Write(append(k[:], row...))
	return err
}

// remove removes the file, whose features are where they belong.
func (p *partialFile) remove() error {
	return errors.Join(p.file.Close(), os.Remove(p.file.Name()))
}
