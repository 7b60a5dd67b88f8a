package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

const (
	// largeSide and thumbSide are the maximum sides of images that are sent, in pixels.
	largeSide, thumbSide = 1600, 320
	// exactSide is the maximum side of images that are sent as lossless PNG.
	exactSide = 256
	// pictureTime is the time limit for decoding and encoding an image.
	pictureTime = 10 * time.Second
)

// pictures encodes images for browsers.
type pictures struct {
	d    *datasets.Dataset
	root *os.Root      // nil for data without files, if links are followed, and for features
	room chan struct{} // a slot for each image that is being decoded
	once singleflight.Group
}

// encoded is an encoded image.
type encoded struct {
	kind string // the media type
	data []byte
}

func newPictures(o Options) (*pictures, error) {
	p := &pictures{d: o.Data, room: make(chan struct{}, runtime.GOMAXPROCS(0))}
	if _, vectors := o.Data.Features(); vectors || o.Root == "" || o.FollowLinks {
		return p, nil
	}
	root, err := os.OpenRoot(o.Root)
	p.root = root
	return p, err
}

func (p *pictures) close() error {
	if p.root == nil {
		return nil
	}
	return p.root.Close()
}

// picture serves an image of the data set, with no side longer than side.
func (s *Server) picture(w http.ResponseWriter, r *http.Request, side int) {
	id, err := s.known(r.URL.Query().Get("id"))
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	view := side
	if r.URL.Query().Has("whole") { // the image of a box
		view = -side
	}
	e, err := s.pictures.get(r.Context(), id, view)
	if err != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusUnprocessableEntity)
		io.WriteString(w, text(err.Error()))
		return
	}
	w.Header().Set("Content-Type", e.kind)
	w.Header().Set("Cache-Control", "private, max-age=600")
	w.Header().Set("Content-Length", strconv.Itoa(len(e.data)))
	w.Write(e.data)
}

// get returns an encoded image, or an error when ctx is done; a negative view is as in
// [datasets.Dataset.ViewContext]. Concurrent requests for an image share the work.
func (p *pictures) get(ctx context.Context, id string, view int) (*encoded, error) {
	key := strconv.Itoa(view) + " " + id
	v, err, _ := p.once.Do(key, func() (any, error) {
		select {
		case p.room <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		defer func() { <-p.room }()
		ctx, cancel := context.WithTimeoutCause(ctx, pictureTime, errSlow)
		defer cancel()
		m, err := p.read(ctx, id, view)
		if err != nil {
			return nil, err
		}
		return encode(fit(m, max(view, -view)))
	})
	if errors.Is(err, context.Canceled) && ctx.Err() == nil { // the first requester has left
		return p.get(ctx, id, view)
	}
	if err != nil {
		return nil, err
	}
	return v.(*encoded), nil
}

// errSlow is the error of an image that took too long.
var errSlow = fmt.Errorf("it takes more than %v to decode", pictureTime)

// errLink is the error of a symbolic link that leads out of the data set's folder.
var errLink = errors.New("it is a link out of the data set's folder, which is not followed")

// read decodes an image of the data set for a view whose longer side is view pixels.
func (p *pictures) read(ctx context.Context, id string, view int) (*rgb.Image, error) {
	i, ok := p.d.Index(id)
	if !ok {
		return nil, errors.New("there is no such image")
	}
	if p.root == nil {
		return p.d.ViewContext(ctx, i, view)
	}
	file := rgb.FilePath(id)
	name := filepath.FromSlash(file)
	data, err := regular.ReadFS(p.root.FS(), file, rgb.MaxFile)
	switch {
	case errors.Is(err, regular.ErrKind):
		return nil, errors.New("it is not a file")
	case errors.Is(err, regular.ErrSize):
		return nil, fmt.Errorf("its file has more than %d bytes", rgb.MaxFile)
	case err != nil:
		if _, outside := os.Stat(filepath.Join(p.root.Name(), name)); outside == nil {
			return nil, errLink
		}
		return nil, errors.New("its file cannot be opened")
	}
	return p.d.DecodeFile(ctx, id, data, view)
}

// fit scales an image down so that no side is longer than side.
func fit(m *rgb.Image, side int) *rgb.Image {
	long := max(m.Width, m.Height)
	if long <= side {
		return m
	}
	scale := func(n int) int { return max(1, (n*side+long/2)/long) }
	return m.Resize(scale(m.Width), scale(m.Height))
}

func encode(m *rgb.Image) (*encoded, error) {
	var b bytes.Buffer
	if max(m.Width, m.Height) <= exactSide {
		e := png.Encoder{CompressionLevel: png.BestSpeed}
		err := e.Encode(&b, m.ToImage())
		return &encoded{kind: "image/png", data: b.Bytes()}, err
	}
	err := jpeg.Encode(&b, m.ToImage(), &jpeg.Options{Quality: 92})
	return &encoded{kind: "image/jpeg", data: b.Bytes()}, err
}
