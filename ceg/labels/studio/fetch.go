package studio

import (
	"cmp"
	"context"
	"crypto/sha256"
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

// find returns the image of a task: of the data set by what ledg has exported of it, which its
// path must not contradict, or else by its path, or else by its bytes, which are those of an image
// elsewhere if the data set does not have them. Such an image counts against limits. What another
// task says of an address does not count.
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
	_, upload := exchange.Uploaded(a.Path)
	s.mu.Lock()
	there, known := "", s.seen[sha256.Sum256([]byte(address))]
	if !upload { // whose name can be that of another image
		there = s.matcher.Whole(a.Path)
	}
	id, err := cmp.Or(there, known), error(nil)
	if a.ID != "" || a.Digest != "" {
		if id, err = s.matcher.Match(exchange.Label{ID: a.ID, Digest: a.Digest}); err == nil && there != "" && id != there {
			err = fmt.Errorf("its address is that of %s, and its ledg_id or ledg_sha256 that of %s", there, id)
			s.mu.Unlock()
			return Image{}, err
		}
	}
	s.mu.Unlock()
	if err == nil && id != "" {
		return Image{ID: id}, nil
	}
	image, unread := s.fetch(ctx, address, b)
	if unread == nil {
		h := datasets.ContentHash(image)
		h.Write(image)
		a.Digest = hex.EncodeToString(h.Sum(nil))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err = s.matcher.Match(exchange.Label{Digest: a.Digest, Path: a.Path})
	switch {
	case err == nil && unread == nil:
		s.remember(address, id)
		fallthrough
	case err == nil:
		return Image{ID: id}, nil
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

// remember notes which image an address has shown.
func (s *Server) remember(address, id string) {
	const most = 1 << 17 // of about 100 bytes
	if len(s.seen) == most {
		clear(s.seen)
	}
	s.seen[sha256.Sum256([]byte(address))] = id
}

// fetch reads the image at an address. Its error is for the log alone, unless it is a refusal
// or a limit.
func (s *Server) fetch(ctx context.Context, address string, b *budget) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if err := b.take(0, 0); err != nil {
		return nil, err
	}
	if b.wasted.Load() > maxPictures {
		return nil, tooMuch(fmt.Sprintf("the request has more than %d MB of files that are too large or no images", maxPictures>>20))
	}
	reply, err := s.reach.open(ctx, address, s.authorize)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	large := tooMuch(fmt.Sprintf("the image has more than %d MB or %d megapixels", maxPicture>>20, maxPicturePixels/1_000_000))
	if reply.ContentLength > maxPicture {
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
	var width, height int
	if err == nil {
		width, height, err = rgb.Size(data)
	}
	pixels := int64(width) * int64(height)
	if much := tooMuch(""); errors.As(err, &much) || pixels > maxPicturePixels {
		err = large
	}
	if err != nil { // it costs the other tasks nothing
		b.wasted.Add(int64(len(data)))
		return nil, err
	}
	return data, b.take(int64(len(data)), max(pixels, 0))
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
