package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newest returns the newest finished run, RUN or one trained here, and the unfinished one after
// it, if any.
func (b *studioBackend) newest() (finished, begun string) {
	finished = b.dir
	for n := b.last(); n > 0; n-- {
		dir := b.numbered(n)
		if result.Finished(os.DirFS(dir)) {
			return dir, begun
		}
		begun = cmp.Or(begun, dir)
	}
	return finished, begun
}

func (b *studioBackend) numbered(n int) string { return fmt.Sprint(b.dir, "-studio-", n) }

var studioRun = regexp.MustCompile(`-studio-([0-9]{1,6})$`)

// last returns the number of the newest run trained here, 0 if there is none.
func (b *studioBackend) last() (n int) {
	list, _ := filepath.Glob(filepath.Join(filepath.Dir(b.dir), "*-studio-*"))
	for _, dir := range list {
		if m := studioRun.FindStringSubmatch(dir); m != nil && strings.TrimSuffix(dir, m[0]) == b.dir {
			k, _ := strconv.Atoi(m[1])
			n = max(n, k)
		}
	}
	return n
}

// changed starts training if enough labels differ from the newest model's.
func (b *studioBackend) changed() {
	if b.every == 0 {
		return
	}
	if n := b.unknown(); n >= b.every {
		b.log("%d new labels: %s", n, b.train())
	}
}

// unknown counts the images whose class differs from the one that the newest model was trained
// with.
func (b *studioBackend) unknown() (n int) {
	b.mu.Lock()
	trained := b.model.trained
	b.mu.Unlock()
	b.ledger.View(func(s *labels.State) {
		seen := 0
		for v := range s.Images() {
			if class, ok := trained[v.ID]; ok {
				seen++
				if class != v.Class {
					n++
				}
			} else if v.Class != "" {
				n++
			}
		}
	})
	return n
}

// train starts and logs a run with all labels.
func (b *studioBackend) train() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.training {
		return "training is already running"
	}
	if none := b.unlabelled(); len(none) > 0 {
		return "every site needs a label before training; missing: " + strings.Join(none, ", ")
	}
	e, err := ceg.Extend(ceg.Extension{Of: b.dir, CacheDir: b.cache})
	if err != nil {
		return cli.OneLine(err)
	}
	out := b.numbered(b.last() + 1)
	b.start(out, "extend", b.dir, "--budget", strconv.Itoa(e.Taken))
	return fmt.Sprintf("%s is trained on %s", out, count(e.Taken, "label"))
}

// unlabelled names the domains to train on without a label.
func (b *studioBackend) unlabelled() (none []string) {
	has := map[string]bool{b.target: true}
	b.ledger.View(func(s *labels.State) {
		for _, l := range s.Labels() {
			has[l.Domain] = true
		}
	})
	for i, x := range b.data.Examples {
		if name := b.data.Domains[x.Domain]; !has[name] && b.truth.Len() > 0 && b.truth.Knows(i) {
			has[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(b.data.Domains), func(name string) bool { return has[name] })
}

// start runs a training command of this program with an output folder, and then serves the new
// model. If training fails, a folder that the command made is removed. The caller holds mu.
func (b *studioBackend) start(out string, args ...string) {
	b.training = true
	there := exists(out)
	b.work.Go(func() {
		begun := time.Now()
		root := newRootCommand()
		root.SetIn(strings.NewReader("")) // no questions on the terminal
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		args = append(args, "--out", out, "--quiet")
		for flag, v := range map[string]string{"--backend": b.backend, "--cache": b.cache} {
			if v != "" {
				args = append(args, flag, v)
			}
		}
		root.SetArgs(args)
		root.SilenceErrors, root.SilenceUsage = true, true
		err := root.ExecuteContext(b.ctx)
		var m *studioModel
		if err == nil {
			dir, _ := b.newest()
			m, err = b.open(dir)
		}
		b.mu.Lock()
		b.training = false
		if err == nil {
			b.model, m = m, b.model
		}
		version := b.model.Version()
		b.mu.Unlock()
		if m != nil {
			m.close()
		}
		switch {
		case b.ctx.Err() != nil:
		case err != nil:
			if !there {
				err = errors.Join(err, os.RemoveAll(out))
			}
			b.log("training failed, so predictions are still those of %s: %w", version, err)
		default:
			b.log("predictions are now from %s, after %s", version, time.Since(begun).Round(time.Second/10))
			b.changed() // with labels that arrived meanwhile
		}
	})
}
