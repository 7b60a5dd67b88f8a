package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits of a request. Label Studio 1.23 requests the predictions of all selected tasks in one
// request.
const (
	maxBody   = 64 << 20 // bytes of one for predictions
	maxNotice = 16 << 20 // bytes of any other
	maxTasks  = 50_000
	maxTask   = 256 << 10 // bytes of a task's data
	maxConfig = 4 << 20   // bytes of a labelling config
	maxText   = 8 << 10   // bytes of an address, a token or a name

	maxPicture       = 64 << 20   // bytes of an image file that is fetched
	maxPicturePixels = 64_000_000 // of an image that is fetched
	maxPictures      = 1 << 30    // bytes of all images that are fetched for a request
	maxPixels        = 4_000_000_000

	maxConnections = 64 // at a time
	maxPredicting  = 2  // requests for predictions at a time; others wait
	maxTelling     = 4  // other requests at a time
	maxFetching    = 4  // fetched images in memory at a time
	maxWaiting     = time.Minute
	maxFailed      = 20 // errors listed in a response
)

// tooMuch is the error of a request or an image beyond a limit, response code 413.
type tooMuch string

func (e tooMuch) Error() string { return string(e) }

// statusOf returns the HTTP status of a handler's error.
func statusOf(err error) int {
	var long *http.MaxBytesError
	var much tooMuch
	switch {
	case errors.As(err, &long), errors.As(err, &much):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errBusy):
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

var errBusy = errors.New("other requests are being answered: try again")

// acquire takes a slot, for which it waits. Without slots there is no limit.
func acquire(ctx context.Context, slots chan struct{}) error {
	if slots == nil {
		return nil
	}
	t := time.NewTimer(maxWaiting)
	defer t.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-t.C:
		return errBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// release gives a slot back.
func release(slots chan struct{}) {
	if slots != nil {
		<-slots
	}
}

// budget counts what images are fetched for a request; wasted are bytes of those that are not
// taken.
type budget struct{ bytes, pixels, wasted, lines atomic.Int64 }

// mostLines bounds the lines about tasks that a request adds to the log.
const mostLines = 20

// line reports whether a request may add a line about a task to the log.
func (b *budget) line() bool { return b.lines.Add(1) <= mostLines }

// take counts an image.
func (b *budget) take(bytes, pixels int64) error {
	if b.bytes.Add(bytes) > maxPictures || b.pixels.Add(pixels) > maxPixels {
		return tooMuch(fmt.Sprintf("the images of the request are more than %d MB or %d megapixels in all: select fewer tasks at a time", maxPictures>>20, maxPixels/1_000_000))
	}
	return nil
}

// fields reads a JSON object and calls f for each of its keys, which reads the value.
func fields(d *json.Decoder, f func(key string) error) error {
	if err := delim(d, '{', "an object"); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := f(key.(string)); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// elements reads a JSON array of at most most elements and calls f for each, which reads
// it. A null is an empty array.
func elements(d *json.Decoder, most int, what string, f func() error) error {
	switch t, err := d.Token(); {
	case err != nil:
		return err
	case t == nil:
		return nil
	case t != json.Delim('['):
		return fmt.Errorf("the %s are no list", what)
	}
	for n := 0; d.More(); n++ {
		if n == most {
			return tooMuch(fmt.Sprintf("more than %d %s", most, what))
		}
		if err := f(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func delim(d *json.Decoder, want json.Delim, what string) error {
	t, err := d.Token()
	if err == nil && t != want {
		err = fmt.Errorf("it is no %s", what)
	}
	return err
}

// text reads a JSON string of at most most bytes; any other value, as of a token that
// Label Studio does not have, is empty.
func text(d *json.Decoder, most int, into *string) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	if len(raw) > 6*most+2 {
		return tooMuch(fmt.Sprintf("a text is longer than %d bytes", most))
	}
	if raw[0] == '"' {
		return json.Unmarshal(raw, into)
	}
	*into = ""
	return nil
}

// skip reads a value and drops it.
func skip(d *json.Decoder) error {
	return d.Decode(new(nothing))
}

// nothing is a discarded JSON value.
type nothing struct{}

func (*nothing) UnmarshalJSON([]byte) error { return nil }

// list is one of something, or a list of at most maxTasks of it.
type list[T any] []T

// UnmarshalJSON implements [json.Unmarshaler].
func (l *list[T]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	one := func() error {
		var v T
		err := d.Decode(&v)
		*l = append(*l, v)
		return err
	}
	if *l = nil; len(data) > 0 && data[0] != '[' {
		return one()
	}
	return elements(d, maxTasks, "elements", one)
}

// readAll reads a body of at most most bytes.
func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = tooMuch(fmt.Sprintf("it is longer than %d bytes", most))
	}
	return data, err
}
