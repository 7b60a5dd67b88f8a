package studio

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ledg-go/ledg/ceg/labels/exchange"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// find returns the image of a task: of the data set by what ledg has exported of it or by
// its path, or else by its bytes, which are those of an image elsewhere if
// the data set does not have them. Such an image counts against limits.
func (s *Server) find(ctx context.Context, data map[string]json.RawMessage, c *control, b *budget) (Image, error) {
	a := exchange.StudioImage(data)
	var address string
	if json.Unmarshal(data[c.Key], &address) != nil || address == "" {
		return Image{}, fmt.Errorf("its data has no address of an image as %q", c.Key)
	}
	if len(address) > maxText {
		return Image{}, fmt.Errorf("its address has %d bytes, at most %d are read", len(address), maxText)
	}
	a.Path = exchange.StudioPath(address)
	name, upload := exchange.Uploaded(a.Path)
	if upload {
		a.Path = "" // the same name can be that of another image
	}
	s.mu.Lock()
	id, ok := s.known[address]
	if err := error(nil); !ok && (a.ID != "" || a.Digest != "" || a.Path != "") {
		id, err = s.matcher.Match(a)
		ok = err == nil
	}
	s.mu.Unlock()
	if ok {
		return s.remember(address, id), nil
	}
	image, unread := s.fetch(ctx, address, b)
	if unread == nil {
		h := datasets.ContentHash(image)
		h.Write(image)
		a = exchange.Label{Digest: hex.EncodeToString(h.Sum(nil))}
	} else if upload {
		a = exchange.Label{Path: name}
	}
	s.mu.Lock()
	id, err := s.matcher.Match(a)
	s.mu.Unlock()
	switch {
	case err == nil:
		return s.remember(address, id), nil
	case unread == nil:
		return Image{Data: image}, nil
	}
	var no refused
	var much tooMuch
	if !errors.As(unread, &no) && !errors.As(unread, &much) {
		if b.line() {
			s.o.Log("%.200q: %v", address, unread)
		}
		unread = errUnread
	}
	return Image{}, fmt.Errorf("%.200q is no image of the run: %w", address, unread)
}

func (s *Server) remember(address, id string) Image {
	const most = 1 << 18
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) < most {
		s.known[address] = id
	}
	return Image{ID: id}
}

// fetch reads the image at an address. Its error is for the log alone, unless it is a refusal
// or a limit.
func (s *Server) fetch(ctx context.Context, address string, b *budget) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if b.bytes.Load() > maxPictures || b.pixels.Load() > maxPixels {
		return nil, b.take(0, 0)
	}
	reply, err := s.reach.open(ctx, address, s.authorize)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	large := tooMuch(fmt.Sprintf("the image has more than %d MB or %d megapixels", maxPicture>>20, maxPicturePixels/1_000_000))
	if n := reply.ContentLength; n > maxPicture {
		if err := b.take(n, 0); err != nil {
			return nil, err
		}
		return nil, large
	}
	head, err := io.ReadAll(io.LimitReader(reply.Body, rgb.Magic))
	if err != nil {
		return nil, err
	}
	if rgb.Format(head) == "" {
		return nil, errors.New("the file at this address is not an image")
	}
	data, err := readAll(reply.Body, maxPicture-rgb.Magic)
	data = append(head, data...)
	if err := b.take(int64(len(data)), 0); err != nil {
		return nil, err
	}
	var much tooMuch
	if errors.As(err, &much) {
		return nil, large
	}
	if err != nil {
		return nil, err
	}
	width, height, err := rgb.Size(data)
	pixels := int64(width) * int64(height)
	if err := b.take(0, max(pixels, 0)); err != nil {
		return nil, err
	}
	if pixels > maxPicturePixels {
		return nil, large
	}
	return data, err
}

// authorize adds the token of Label Studio's API to a request: a legacy one as it is, and for a
// personal one, which is a JSON Web Token, the short-lived one that it is good for.
func (s *Server) authorize(r *http.Request) error {
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	if key == "" {
		return refused("Label Studio has it, and no token of its API is known: set LABEL_STUDIO_API_KEY")
	}
	header, err := s.header(r.Context(), key)
	if err == nil {
		r.Header.Set("Authorization", header)
	}
	return err
}
