//go:build unix

package result

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Whatever is read of a run's folder and of a study's is a regular file: a pipe is not
// waited for, and a device without end not read.
func TestReadsRegularFiles(t *testing.T) {
	for what, read := range map[string]struct {
		file string
		read func(dir string) error
	}{
		"config":    {ConfigFile, func(dir string) error { return ReadConfig(os.DirFS(dir), ConfigFile, new(config.Config)) }},
		"a new run": {ConfigFile, func(dir string) error { _, err := Open(dir, newSettings(1), Place{}, false); return err }},
		"result":    {ResultFile, func(dir string) error { _, err := ReadResult(os.DirFS(dir), ResultFile); return err }},
		"records": {RecordsFile, func(dir string) error {
			_, _, err := ReadRecords(os.DirFS(dir), RecordsFile, WholeFile)
			return err
		}},
		"queries":   {QueriesFile, func(dir string) error { _, err := ReadQueries(os.DirFS(dir), QueriesFile); return err }},
		"truncate":  {RecordsFile, func(dir string) error { return truncateFile(filepath.Join(dir, RecordsFile), 0) }},
		"place":     {PlaceFile, func(dir string) error { _, err := ReadPlace(dir); return err }},
		"failure":   {"a" + failureSuffix, func(dir string) error { _, err := ReadFailure(dir, "a"); return err }},
		"plan":      {"a" + planSuffix, func(dir string) error { _, err := ReadPlans(dir); return err }},
		"packed":    {"a" + packedSuffix, func(dir string) error { _, err := ReadPlans(dir); return err }},
		"collected": {collectedSuffix, func(dir string) error { _, err := readCollection(dir); return err }},
		"lock":      {lockFile, func(dir string) error { _, err := isLocked(dir); return err }},
		"copy": {"file", func(dir string) error {
			return regular.CopyFile(filepath.Join(dir, "file"), filepath.Join(dir, "copy"))
		}},
	} {
		for kind, make := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o666) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			t.Run(what+"/"+kind, func(t *testing.T) {
				dir := t.TempDir()
				if err := make(filepath.Join(dir, read.file)); err != nil {
					t.Skip(err)
				}
				if err := read.read(dir); !errors.Is(err, regular.ErrKind) || strings.Contains(err.Error(), "\n") {
					t.Error(err)
				}
			})
		}
	}
}

// Files that are too large for what they are, packed or not, are not read.
func TestReadsBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ConfigFile), "")
	fatal.If(t, os.Truncate(filepath.Join(dir, ConfigFile), maxSettings+1))
	if err := ReadConfig(os.DirFS(dir), ConfigFile, new(config.Config)); !errors.Is(err, regular.ErrSize) {
		t.Error(err)
	}
	w := fatal.Get(zstd.NewWriter(nil))(t)
	var packed bytes.Buffer
	w.Reset(&packed)
	for range 128 { // MB in 15 KB
		fatal.Get(w.Write(make([]byte, 1<<20)))(t)
	}
	w.Close()
	put(t, filepath.Join(dir, collectedSuffix), packed.String())
	if _, err := readCollection(dir); !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		t.Errorf("%d bytes are unpacked: %v", packed.Len(), err)
	}
}
