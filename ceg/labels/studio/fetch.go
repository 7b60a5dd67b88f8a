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

// find returns the ID of the image of a task: by what ledg has exported of it, which its path must
// not contradict, or else by its path, or else by its bytes, which count in fetched. What another
// task says of an address does not count.
func (s *Server) find(ctx context.Context, data map[string]json.RawMessage, c *control, fetched *int64) (id string, err error) {
	a := exchange.StudioImage(data)
	var address string
	if json.Unmarshal(data[c.Key], &address) != nil || address == "" {
		return "", fmt.Errorf("its data has no address of an image as %q", c.Key)
	}
	if len(address) > maxText {
		return "", fmt.Errorf("its address has %d bytes, at most %d are read", len(address), maxText)
	}
	a.Path = exchange.StudioPath(address)
	_, upload := exchange.Uploaded(a.Path)
	s.mu.Lock()
	there, known := "", s.seen[sha256.Sum256([]byte(address))]
	if !upload { // whose name can be that of another image
		there = s.matcher.Whole(a.Path)
	}
	id = cmp.Or(there, known)
	if a.ID != "" || a.Digest != "" {
		if id, err = s.matcher.Match(exchange.Label{ID: a.ID, Digest: a.Digest}); err == nil && there != "" && id != there {
			err = fmt.Errorf("its address is that of %s, and its ledg_id or ledg_sha256 that of %s", there, id)
			s.mu.Unlock()
			return "", err
		}
	}
	s.mu.Unlock()
	if err == nil && id != "" {
		return id, nil
	}
	digest, unread := s.fetch(ctx, address, fetched)
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err = s.matcher.Match(exchange.Label{Digest: digest, Path: a.Path})
	if err == nil && unread == nil {
		s.remember(address, id)
	}
	if err != nil {
		return "", fmt.Errorf("%.200q is no image of the run: %w", address, cmp.Or(unread, err))
	}
	return id, nil
}

// remember notes which image an address has shown.
func (s *Server) remember(address, id string) {
	const most = 1 << 17 // of about 100 bytes
	if len(s.seen) == most {
		clear(s.seen)
	}
	s.seen[sha256.Sum256([]byte(address))] = id
}

func (s *Server) fetch(ctx context.Context, address string, fetched *int64) (digest string, err error) {
	if *fetched > maxPictures {
		return "", tooMuch(fmt.Sprintf("the images of the request are more than %d MB in all: select fewer tasks at a time", maxPictures>>20))
	}
	u, err := s.reach.file(address)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	reply, err := s.reach.do(ctx, http.MethodGet, u.String(), nil, s.authorize)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	large := tooMuch(fmt.Sprintf("the image has more than %d MB", maxPicture>>20))
	if reply.ContentLength > maxPicture {
		return "", large
	}
	head, err := io.ReadAll(io.LimitReader(reply.Body, rgb.Magic))
	if err != nil {
		return "", err
	}
	if rgb.Format(head) == "" {
		return "", errors.New("the file at this address is not an image")
	}
	h := datasets.ContentHash(head)
	h.Write(head)
	n, err := io.Copy(h, io.LimitReader(reply.Body, maxPicture))
	*fetched += n
	if err == nil && n == maxPicture {
		err = large
	}
	if err != nil { // a part of a file has another digest than the file
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// authorize adds the token of Label Studio's API to a request: a legacy one as it is, and for a
// personal one, which is a JSON Web Token, the short-lived one that it is good for.
func (s *Server) authorize(r *http.Request) error {
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	if key == "" {
		return errors.New("the file is in Label Studio, and no token of its API is known: set LABEL_STUDIO_API_KEY")
	}
	header, err := s.header(r.Context(), key)
	if err == nil {
		r.Header.Set("Authorization", header)
	}
	return err
}
