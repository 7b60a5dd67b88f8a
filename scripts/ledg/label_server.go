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
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// background starts the same command once more, without --detach, and waits until it
// serves.
func (f *labelFlags) background(ctx context.Context, name string) error {
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return a == "--detach" || a == "--detach=true" })
	log, err := os.CreateTemp("", "ledg-label-*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	ended, err := startDetached(args, log)
	if err != nil {
		return err
	}
	slow := time.After(3 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			os.Remove(log.Name())
			return errors.New(strings.TrimPrefix(cli.OneLine(errors.New(string(text))), "ledg: "))
		case <-slow:
			f.progress("the server looks at the images first; %s says how far it is\n", log.Name())
			continue
		case <-tick.C:
		}
		place := page.Remembered(name)
		if running, ok := place.Alive(ctx); ok {
			f.progress("process %d serves %s; --stop ends it; it writes to %s\n", running.Process, filepath.Join(f.ledger, labels.File), log.Name())
			f.stdout("%s\n", place.Address())
			return nil
		}
	}
}
