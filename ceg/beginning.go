package ceg

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/result"
)

// beginningFiles are what a run takes over from another's beginning. The
// checkpoint comes last: without it the others do not count.
var beginningFiles = []string{result.RecordsFile, result.QueriesFile, CheckpointFile}

// beginning returns the folder of the state in which this run is before its first
// query epoch, and which it shares with all runs that ask for labels in other
// ways but are otherwise the same. It is "" if nothing is to be shared.
func (r *run) beginning() (string, error) {
	if r.o.Beginnings == "" || r.sharedEpochs() == 0 {
		return "", nil
	}
	c := r.c
	c.Method = ""
	x := &c.Exploration
	x.Strategy, x.WeightU, x.Gamma1, x.Gamma2, x.SoftmaxTwice = "", 0, 0, 0, false
	key, err := json.Marshal(struct {
		Config   Config          `json:"config"`
		Images   string          `json:"images"`
		Versions result.Versions `json:"versions"`
	}{c, r.images.Digest(), r.versions()})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(key)
	return filepath.Join(r.o.Beginnings, hex.EncodeToString(sum[:10])), nil
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
