package ceg

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/cpu"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/result"
)

// beginningFiles are what a run takes over from another's beginning. The
// checkpoint comes last: without it the others do not count.
var beginningFiles = []string{result.RecordsFile, result.QueriesFile, CheckpointFile}

// exactEngine is what computes, as far as it can move a bit of a result.
type exactEngine struct {
	Settings engine.Settings `json:"settings"`
	// Plugin is the SHA-256 of the PJRT plugin's file, empty on the Go backend.
	Plugin string `json:"plugin"`
	// Device is the backend's own description, CPU what its kernels are chosen by.
	Device string `json:"device"`
	CPU    string `json:"cpu"`
}

func (r *run) exactEngine() (e exactEngine, err error) {
	e = exactEngine{Settings: r.backend.Settings, Device: r.backend.Compute.Description(),
		CPU: fmt.Sprint(runtime.GOARCH, " ", cpu.X86.HasAVX2, cpu.X86.HasFMA, cpu.X86.HasAVX512F)}
	// The plugin counts by its content, not by its place, and how it takes its memory
	// does not count.
	if path := e.Settings.Plugin; path != "" {
		if e.Plugin, err = fileDigest(path); err != nil {
			return e, err
		}
	}
	e.Settings.Plugin, e.Settings.Preallocate, e.Settings.MemoryFraction = "", false, 0
	return e, nil
}

// programDigest returns the SHA-256 of this program. Its version would not do: all
// builds between two releases have the same.
var programDigest = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return fileDigest(path)
})

// fileDigest returns the SHA-256 of a file's content.
func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// beginning returns the folder of the state in which this run is before its first
// query epoch, and which it shares with all runs that ask for labels in other
// ways but are otherwise the same, by the same program on the same engine. It is ""
// if nothing is to be shared.
func (r *run) beginning() (string, error) {
	if r.o.Beginnings == "" || r.sharedEpochs() == 0 {
		return "", nil
	}
	program, err := programDigest()
	if err != nil {
		return "", err
	}
	e, err := r.exactEngine()
	if err != nil {
		return "", err
	}
	key, err := beginningKey(r.c, r.images.Digest(), program, e)
	return filepath.Join(r.o.Beginnings, key), err
}

// beginningKey is equal for runs that are the same until they ask for the first
// time.
func beginningKey(c Config, images, program string, e exactEngine) (string, error) {
	c.Method = ""
	x := &c.Exploration
	x.Strategy, x.WeightU, x.Gamma1, x.Gamma2, x.SoftmaxTwice = "", 0, 0, 0, false
	key, err := json.Marshal(struct {
		Config  Config      `json:"config"`
		Images  string      `json:"images"`
		Program string      `json:"program"`
		Engine  exactEngine `json:"engine"`
	}{c, images, program, e})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:10]), nil
}

// sharedEpochs is the number of epochs before the first query epoch, 0 if nothing
// will be asked.
func (r *run) sharedEpochs() int {
	for i, epoch := range r.c.Schedule.QueryAfter {
		if r.rounds[i] > 0 {
			return epoch
		}
	}
	return 0
}

// takeBeginning copies a beginning that another run has left, if there is one,
// into the directory of this run, which has no checkpoint yet.
func (r *run) takeBeginning() error {
	from, err := r.beginning()
	if err != nil || from == "" {
		return err
	}
	for _, name := range beginningFiles {
		err := result.CopyFile(filepath.Join(from, name), r.dir.File(name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.say("the first %d epochs are those of an earlier run that differs only in what it asks for", r.sharedEpochs())
	return nil
}

// leaveBeginning keeps the state of this run for others, if it has just come to
// its first query epoch and nobody has done so before.
func (r *run) leaveBeginning() error {
	if r.epoch != r.sharedEpochs() {
		return nil
	}
	to, err := r.beginning()
	if err != nil || to == "" {
		return err
	}
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(r.o.Beginnings, 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(r.o.Beginnings, ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for _, name := range beginningFiles {
		if err := result.CopyFile(r.dir.File(name), filepath.Join(temp, name)); err != nil {
			return fmt.Errorf("keeping the first %d epochs for other runs: %w", r.epoch, err)
		}
	}
	if err := os.Rename(temp, to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
