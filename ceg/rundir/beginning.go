package rundir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/cpu"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/checkpoint"
	"github.com/ledg-go/ledg/datasets/regular"
)

// beginningFiles are what a run takes over from another's beginning, as it is there, and
// the checkpoint, which it makes its own.
var beginningFiles = []string{result.RecordsFile, result.QueriesFile}

// exactEngine is the backend, as far as it can change a bit of a result.
type exactEngine struct {
	Settings engine.Settings `json:"settings"`
	// Plugin is the SHA-256 of the PJRT plugin's file, empty on the Go backend.
	Plugin string `json:"plugin"`
	// Device is the backend's own description, CPU what its kernels are chosen by.
	Device string `json:"device"`
	CPU    string `json:"cpu"`
}

func exactly(b engine.Backend) (e exactEngine, err error) {
	e = exactEngine{Settings: b.Settings, Device: b.Compute.Description(),
		CPU: fmt.Sprint(runtime.GOARCH, " ", cpu.X86.HasAVX2, cpu.X86.HasFMA, cpu.X86.HasAVX512F)}
	// The plugin counts by its content, not by its place, and how it takes its memory
	// does not count.
	if path := e.Settings.Plugin; path != "" {
		if e.Plugin, err = regular.Digest(path); err != nil {
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
	return regular.Digest(path)
})

// beginning is the state of a run before its first query epoch, which it shares with
// all runs that query labels in other ways but are otherwise the same, by the same
// program on the same engine. The zero value shares nothing.
type beginning struct {
	// folder is where it is stored, epochs the number of its epochs.
	folder string
	epochs int
}

// Share enables shared initial epochs: the run reads and stores its state before its first query
// in folder. epochs is the number of epochs before the first query, and examples the digest of
// the data. An empty folder shares nothing.
func (d *Folder) Share(folder string, epochs int, examples string, with engine.Backend) error {
	if folder == "" || epochs == 0 {
		return nil
	}
	program, err := programDigest()
	if err != nil {
		return err
	}
	e, err := exactly(with)
	if err != nil {
		return err
	}
	key, err := beginningKey(d.config, examples, program, e)
	d.beginning = beginning{filepath.Join(folder, key), epochs}
	return err
}

// Leave stores the state after a number of epochs for other runs, if the run has just reached
// its first query epoch and no state is stored yet.
func (d *Folder) Leave(epochs int) error { return d.beginning.leave(d.Dir, epochs) }

// beginningKey is equal for runs that are the same until they query the first
// time.
func beginningKey(c config.Config, images, program string, e exactEngine) (string, error) {
	c.Method = ""
	x := &c.Exploration
	x.Strategy, x.StrategyCode, x.WeightU, x.Gamma1, x.Gamma2, x.SoftmaxTwice = "", "", 0, 0, 0, false
	key, err := json.Marshal(struct {
		Config  config.Config `json:"config"`
		Images  string        `json:"images"`
		Program string        `json:"program"`
		Engine  exactEngine   `json:"engine"`
	}{c, images, program, e})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:10]), nil
}

// take copies the records of the beginning, if another run has left it, into the directory of a
// run, which has no checkpoint yet. The beginning's is in its folder.
func (b beginning) take(dir *result.Dir, say func(string, ...any)) (ok bool, err error) {
	if b.folder == "" {
		return false, nil
	}
	if err := dir.Held(); err != nil {
		return false, err
	}
	for _, name := range beginningFiles {
		err := regular.CopyFile(filepath.Join(b.folder, name), dir.File(name))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	say("the first %d epochs are those of an earlier run that differs only in what it asks for", b.epochs)
	return true, nil
}

// leave keeps the state of a run after a number of epochs for others, if it has
// just come to its first query epoch and nobody has done so before.
func (b beginning) leave(dir *result.Dir, epochs int) error {
	if b.folder == "" || epochs != b.epochs {
		return nil
	}
	if _, err := os.Stat(b.folder); err == nil {
		return nil
	}
	all := filepath.Dir(b.folder)
	if err := os.MkdirAll(all, 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(all, ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for _, name := range append(beginningFiles, checkpoint.File) {
		if err := regular.CopyFile(dir.File(name), filepath.Join(temp, name)); err != nil {
			return fmt.Errorf("keeping the first %d epochs for other runs: %w", epochs, err)
		}
	}
	if err := dir.Held(); err != nil { // else it may be another run's beginning
		return err
	}
	if err := os.Rename(temp, b.folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
