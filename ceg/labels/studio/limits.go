package studio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

	maxPicture  = 64 << 20 // bytes of an image file that is fetched
	maxPictures = 1 << 30  // bytes of all images that are fetched for a request

	maxConnections = 64 // at a time
	maxPredicting  = 2  // requests for predictions at a time; others wait
	maxTelling     = 4  // other requests at a time
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

// acquire takes a slot, for which it waits; receiving from slots gives it back.
func acquire(ctx context.Context, slots chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, maxWaiting, errBusy)
	defer cancel()
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fields reads a JSON object and calls f for each of its keys, which reads the value.
func fields(d *json.Decoder, f func(key string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return cmp.Or(err, errors.New("it is no object"))
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

// text reads a JSON string of at most most bytes.
func text(d *json.Decoder, most int, into *string) error {
	err := d.Decode(into)
	if err == nil && len(*into) > most {
		err = tooMuch(fmt.Sprintf("a text is longer than %d bytes", most))
	}
	return err
}

// nothing is a discarded JSON value.
type nothing struct{}

func (*nothing) UnmarshalJSON([]byte) error { return nil }

// list is one of something, or a list of at most maxTasks of it.
type list[T any] []T

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
