package page

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// A closed request ends the making of its picture, and not that of others who wait for the
// same one.
func TestClosedRequest(t *testing.T) {
	root := t.TempDir()
	var b bytes.Buffer
	fatal.If(t, errors.Join(png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))), os.Mkdir(filepath.Join(root, "d"), 0o777), os.WriteFile(filepath.Join(root, "d", "0.png"), b.Bytes(), 0o666)))
	d, _ := fatal.Get2(datasets.Open("folder", root, datasets.Options{Classes: []string{"cat", "dog"}, CacheDir: t.TempDir()}))(t)
	p := fatal.Get(newPictures(Options{Data: d, Root: root}))(t)
	defer p.close()
	for range cap(p.room) { // all busy
		p.room <- struct{}{}
	}
	get := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := p.get(ctx, "d/0.png", thumbSide)
			done <- err
		}()
		time.Sleep(20 * time.Millisecond)
		return done
	}
	closed, leave := context.WithCancel(t.Context())
	first, second := get(closed), get(t.Context())
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("a closed request: %v", err)
	}
	<-p.room
	if err := <-second; err != nil {
		t.Errorf("another one: %v", err)
	}
}
