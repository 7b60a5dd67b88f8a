package embedding

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/datasets"
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

// makerOf describes who makes rows.
func makerOf(x *model.Extractor, o Options) (maker, error) {
	how := o.Origin
	how.Dataset, how.Root, how.Beside, how.FollowLinks, how.Trained, how.Licence, how.Exclude, how.Layout, how.SiteRule = "", "", "", false, "", "", nil, "", ""
	origin, err := json.Marshal(how)
	return maker{origin, o.Views, o.Half, x.FeatureDim(), x.Description}, err
}

func (m maker) dtype() safetensors.DType {
	if m.Half {
		return safetensors.Float16
	}
	return safetensors.Float32
}

func (m maker) rowBytes() int { return m.Views * m.Dim * m.dtype().Size() }

// check returns an error for numbers that no maker has.
func (m maker) check() error {
	const most = 1 << 24
	if m.Views < 1 || m.Views > most || m.Dim < 1 || m.Dim > most {
		return fmt.Errorf("%d views of %d features, want 1 to %d of each", m.Views, m.Dim, most)
	}
	return nil
}

// key tells an image, and the random choices of its views, which are drawn from its ID.
type key = [sha256.Size]byte

// key is the key of an image; a clean view is the same for all IDs.
func (m maker) key(id, digest string) key {
	if m.Views == 1 {
		id = ""
	}
	return sha256.Sum256([]byte(digest + " " + id))
}

// rows are those that were computed before, by the same maker.
type rows map[key]place

// place is where a row stands.
type place struct {
	file io.ReaderAt
	at   int64
}

// add adds the rows of a file of features, if they are by the same maker, or the first views of
// rows with more. Another file has no rows.
func (r rows) add(f *os.File, by maker) {
	info, err := f.Stat()
	if err != nil {
		return
	}
	h, err := safetensors.ParseHeader(f, info.Size())
	var its maker
	if err != nil || json.Unmarshal([]byte(h.Metadata[makerKey]), &its) != nil || its.Views < by.Views || its.check() != nil {
		return
	}
	rowBytes := its.rowBytes()
	if its.Views = by.Views; string(text(its)) != string(text(by)) {
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
		r[by.key(id, digests[i])] = place{x.Data(), int64(i) * int64(rowBytes)}
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

// picture is what a file says of an image beside its features. In a journal it is a line of
// JSON before them.
type picture struct {
	ID     json.RawMessage `json:"id"` // a string, as it is written
	Digest string          `json:"digest"`
	Class  int             `json:"class"`
	Domain int             `json:"domain"`
	Split  int             `json:"split"`
	Group  string          `json:"group,omitempty"` // empty for one of its own
}

// pictureOf describes example i, but for its digest.
func pictureOf(d *datasets.Dataset, truth datasets.Truth, i int) picture {
	e := d.Examples[i]
	if given, ok := d.GivenSplit(i); ok {
		e.Split = given
	}
	m := picture{ID: bytes.TrimSuffix(text(e.ID), []byte("\n")), Class: truth.Class(i), Domain: e.Domain, Split: int(e.Split)}
	if d.Groups != nil {
		m.Group = d.GroupNames[d.Groups[i]]
	}
	return m
}

// text is a line of JSON.
func text(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(v) // the values encoded here can be
	return b.Bytes()
}

// item is the item of a journal that has an image and its row.
func (m picture) item(row []byte) []byte { return append(text(m), row...) }

// parseItem reads an item whose row has the given number of bytes, and where in the item the row begins.
func parseItem(item []byte, rowBytes int) (m picture, id string, at int64, err error) {
	line, row, _ := bytes.Cut(item, []byte("\n"))
	if err := json.Unmarshal(line, &m); err != nil {
		return m, "", 0, err
	}
	if err := json.Unmarshal(m.ID, &id); err != nil {
		return m, "", 0, fmt.Errorf("an image's ID: %w", err)
	}
	if len(row) != rowBytes || len(m.Digest) != 2*sha256.Size {
		return m, id, 0, fmt.Errorf("%s has %d bytes of features, want %d, and a digest of %d letters, want %d", id, len(row), rowBytes, len(m.Digest), 2*sha256.Size)
	}
	return m, id, int64(len(line) + 1), nil
}

// content is what a file of features is written from.
type content struct {
	by               maker
	origin           datasets.Origin
	classes, domains []string
	splits           bool                      // there are some
	leftOut          []datasets.Skipped        // of one's own images
	names            *datasets.ClassEmbeddings // nil for none
	images           []picture
	rows             []place // of the images
}

func (c *content) write(w io.Writer) error {
	origin, err := json.Marshal(c.origin)
	if err != nil {
		return err
	}
	madeBy, err := json.Marshal(c.by)
	if err != nil {
		return err
	}
	n := len(c.images)
	shape := []int{n, c.by.Views, c.by.Dim}
	if c.by.Views == 1 {
		shape = []int{n, c.by.Dim}
	}
	var ids, digests []byte
	groups := make([]string, n)
	for i, m := range c.images {
		groups[i] = m.Group
		ids = append(append(ids, m.ID...), '\n')
		digests = append(digests, text(m.Digest)...)
	}
	entries := []safetensors.Entry{
		{Name: "features", DType: c.by.dtype(), Shape: shape, From: &placed{rows: c.rows, one: make([]byte, c.by.rowBytes())}},
		numbers("labels", c.images, func(m picture) int { return m.Class }),
		numbers("domains", c.images, func(m picture) int { return m.Domain }),
		bytesOf("ids", ids), bytesOf("class_names", lines(c.classes)), bytesOf("domain_names", lines(c.domains)),
		bytesOf("digests", digests),
	}
	if c.splits {
		entries = append(entries, numbers("splits", c.images, func(m picture) int { return m.Split }))
	}
	if slices.ContainsFunc(groups, func(s string) bool { return s != "" }) {
		entries = append(entries, bytesOf("groups", lines(groups)))
	}
	metadata := map[string]string{
		"format": "ledg features 2", "views": strings.Join(ViewNames(c.by.Views), ","),
		datasets.OriginKey: string(origin), makerKey: string(madeBy),
	}
	if len(c.leftOut) > 0 {
		leftOut, err := json.Marshal(c.leftOut)
		if err != nil {
			return err
		}
		metadata[datasets.LeftOutKey] = string(leftOut)
	}
	if c.names != nil {
		names, err := json.Marshal(c.names)
		if err != nil {
			return err
		}
		metadata[datasets.NamesKey] = string(names)
		entries = append(entries, safetensors.FloatEntry(datasets.NamesArray, []int{len(c.names.Values), c.by.Dim}, slices.Concat(c.names.Values...)))
	}
	return safetensors.Write(w, entries, metadata)
}

// placed reads as the rows at places, one after the other.
type placed struct {
	rows []place
	one  []byte
	left []byte
}

func (r *placed) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if len(r.rows) == 0 {
			return 0, io.EOF
		}
		if err := regular.ReadAt(r.rows[0].file, r.one, r.rows[0].at); err != nil {
			return 0, fmt.Errorf("features that were computed before: %w", err)
		}
		r.left, r.rows = r.one, r.rows[1:]
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// lines is a JSON string a line.
func lines(v []string) (b []byte) {
	for _, s := range v {
		b = append(b, text(s)...)
	}
	return b
}
