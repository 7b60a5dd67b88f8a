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

	"github.com/ledg-go/ledg/ceg/model"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// partialFile is the file of features that are computed already, in the order of the images:
// after a line that says of what and by what, their rows as they will be in the end. So
// an embedding that was killed goes on where it was.
type partialFile struct {
	file *os.File
	// start is where the rows begin, done their number.
	start int64
	done  int
}

// head is the first line of a partial file: all that features depend on but the pixels, of which
// the IDs have to do.
type head struct {
	Metadata map[string]string `json:"metadata"`
	By       string            `json:"by"`
	Shape    []int             `json:"shape"`
	Half     bool              `json:"half"`
	IDs      string            `json:"ids"`
}

// identity returns the line of a head.
func identity(d *datasets.Dataset, x *model.Extractor, shape []int, o Options, metadata map[string]string) ([]byte, error) {
	h := sha256.New()
	for _, e := range d.Examples {
		fmt.Fprintf(h, "%q\n", e.ID)
	}
	line, err := json.Marshal(head{metadata, x.Description, shape, o.Half, fmt.Sprintf("%x", h.Sum(nil))})
	return append(line, '\n'), err
}

// maxHead is the longest head, in bytes.
const maxHead = 1 << 20

// openPartial opens the partial file at a path, or begins one; features of something else,
// or a row that is not whole, are thrown away. A file of another kind is an error.
func openPartial(path string, identity []byte, rowBytes, rows int) (_ *partialFile, err error) {
	f, err := regular.Own(path, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	p := &partialFile{file: f, start: int64(len(identity))}
	line, err := bufio.NewReader(io.LimitReader(f, maxHead)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if d.Decode(new(head)) != nil && !bytes.HasPrefix(identity, line) {
		return nil, fmt.Errorf("%s: is not of an interrupted embedding: move it away", path)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if bytes.Equal(line, identity) {
		p.done = min(int((info.Size()-p.start)/int64(rowBytes)), rows)
	} else {
		if err := f.Truncate(0); err != nil {
			return nil, err
		}
		if _, err := f.WriteAt(identity, 0); err != nil {
			return nil, err
		}
	}
	end := p.start + int64(p.done)*int64(rowBytes)
	if err := f.Truncate(end); err != nil {
		return nil, err
	}
	_, err = f.Seek(end, io.SeekStart)
	return p, err
}

// rows reads those that are there.
func (p *partialFile) rows(rowBytes int) io.Reader {
	return io.NewSectionReader(p.file, p.start, int64(p.done)*int64(rowBytes))
}

// remove removes the file, whose features are where they belong.
func (p *partialFile) remove() error {
	return errors.Join(p.file.Close(), os.Remove(p.file.Name()))
}
