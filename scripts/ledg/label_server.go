package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// claim makes this process the one that serves name, unless one serves it or is about to.
// To end a server, or to start one in the background, nothing is claimed.
func (f *labelFlags) claim(ctx context.Context, name string) (place page.Place, running page.Running, alive bool, release func() error, err error) {
	release = func() error { return nil }
	for begun, told := time.Now(), false; ; {
		place = page.Remembered(name)
		running, alive = place.Alive(ctx)
		if alive || f.stop || f.detach {
			return place, running, alive, release, nil
		}
		free, ok, err := page.Claim(name)
		if err != nil { // Listen says so, and it is served all the same
			return place, running, false, release, nil
		}
		if ok {
			release = free
			place = page.Remembered(name) // another one may have come and gone
			running, alive = place.Alive(ctx)
			return place, running, alive, release, nil
		}
		if !told && time.Since(begun) > 3*time.Second {
			told = true
			f.progress("another process is about to serve these answers; this one waits to say where\n")
		}
		select {
		case <-ctx.Done():
			return place, running, false, release, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// background starts the same command once more, without --detach, and waits until it, or
// another one, serves.
func (f *labelFlags) background(ctx context.Context, name string) error {
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return a == "--detach" || a == "--detach=true" })
	kept, err := page.CacheFile(name, ".log")
	if err != nil {
		return err
	}
	log, err := os.CreateTemp(filepath.Dir(kept), "*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	process, ended, err := startDetached(args, log)
	if err != nil {
		os.Remove(log.Name())
		return err
	}
	slow := time.After(3 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over, failed := false, error(nil)
	for {
		place := page.Remembered(name)
		running, ok := place.Alive(ctx)
		switch {
		case ok && running.Process == process:
			if err := os.Rename(log.Name(), kept); err != nil {
				return err
			}
			f.progress("process %d serves %s; --stop ends it; it writes to %s\n", process, filepath.Join(f.ledger, labels.File), kept)
			f.stdout("%s\n", place.Address())
			return nil
		case ok && over && failed == nil:
			os.Remove(log.Name()) // of a process that says what is said here
			f.progress("process %d serves %s already, for %s; --stop ends it\n", running.Process, filepath.Join(f.ledger, labels.File), running.By)
			f.stdout("%s\n", place.Address())
			return nil
		case over:
			text, _ := regular.Read(log.Name(), 1<<20)
			os.Remove(log.Name())
			return errors.New(strings.TrimPrefix(cli.OneLine(errors.New(string(text))), "ledg: "))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case failed = <-ended:
			over = true // and a last look whether another one serves
		case <-slow:
			f.progress("the server looks at the images first; %s says how far it is\n", log.Name())
		case <-tick.C:
		}
	}
}
