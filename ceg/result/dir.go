package result

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Names of the files in a run's folder.
const (
	ConfigFile  = "config.json"
	RecordsFile = "records.jsonl"
	QueriesFile = "queries.csv"
	ResultFile  = "result.json"
	DoneFile    = "done"

	lockFile = ".lock"
)

// Errors of Create, Resume and Open; test with errors.Is.
var (
	// ErrLocked: another process writes the run.
	ErrLocked = errors.New("another process is working on this run")
	// ErrUnfinished: the folder holds an unfinished run with the same config.
	ErrUnfinished = errors.New("the directory holds an unfinished run")
	// ErrFinished: the folder holds the same run, finished.
	ErrFinished = errors.New("the directory holds a finished run")
	// ErrForeign: the folder holds another run, a run of another version, or other files.
	ErrForeign = errors.New("the directory is not this run's")
	// ErrTaken: the folder was removed, renamed or replaced while this process held it. Existing
	// folders are not written to.
	ErrTaken = errors.New("the directory was removed, renamed or replaced while this process was working on the run")
)

// Dir is the folder of one run, locked by this process from Open to Close. It is not
// safe for concurrent use. Writing methods return ErrTaken if the folder at its path is no
// longer the opened one.
type Dir struct {
	path    string
	dataset string
	lock    *flock.Flock
	opened  fs.FileInfo // the directory
	scored  bool        // by a strategy that the program registered
}

// WriteConfig writes a config in the form of a run's folder.
func WriteConfig(w io.Writer, c config.Config) error {
	data, err := encode(c, "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Open makes the folder of a new run, with its parents, and writes its config.json. The config's
// format must be Format. An existing folder must be empty, or hold only the same config.json and a
// local.json, as after a run that failed at the start. Otherwise the error is ErrUnfinished,
// ErrFinished, ErrForeign or ErrLocked, and the folder is unchanged. With resume it also opens an
// unfinished run with the same config, whose records stay until Truncate shortens them to the checkpoint.
//
// A new run gets p as its local.json, unless it is the zero Place.
// That file is written before config.json, so that a run with a config.json always has it, even
// if the process is killed between the two.
func Open(path string, c config.Config, p Place, resume bool) (_ *Dir, err error) {
	if c.Format != Format {
		return nil, fmt.Errorf("%s: a new run has format %d, want %d", ConfigFile, c.Format, Format)
	}
	if p, err = p.in(Place{}, c.Data.Dataset); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	// Before the lock: a stranger's directory does not get a lock file.
	if err := refuseStranger(path); err != nil {
		return nil, err
	}
	d := &Dir{path: path, dataset: c.Data.Dataset, scored: c.Exploration.StrategyCode != "", lock: regular.NewLock(filepath.Join(path, lockFile), flock.SetPermissions(0o666))}
	if d.opened, err = os.Stat(path); err != nil {
		return nil, err
	}
	switch ok, err := d.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("locking the run: %w", err)
	case !ok:
		return nil, fmt.Errorf("%s: %w", path, ErrLocked)
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	old, err := regular.Read(filepath.Join(path, ConfigFile), maxSettings)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if p != (Place{}) {
			if err := d.WritePlace(p); err != nil {
				return nil, err
			}
		}
		if err := d.WriteFile(ConfigFile, func(w io.Writer) error { return WriteConfig(w, c) }); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := sameConfig(old, c); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrForeign, filepath.Join(path, ConfigFile), err)
		}
		if err := started(path); err != nil && !(resume && errors.Is(err, ErrUnfinished)) {
			return nil, err
		}
	}
	return d, d.write(func() error { return removeTemps(path) })
}

// CheckNew returns an error if a new run cannot begin in a folder: ErrFinished, ErrUnfinished,
// ErrForeign, or that nothing can be written there. It leaves nothing behind.
func CheckNew(path string) error {
	if err := refuseStranger(path); errors.Is(err, ErrForeign) {
		return err
	}
	if _, err := os.Stat(filepath.Join(path, ConfigFile)); err == nil {
		return started(path)
	}
	there, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for {
		if _, err := os.Lstat(there); err == nil || filepath.Dir(there) == there {
			break
		}
		there = filepath.Dir(there)
	}
	f, err := os.CreateTemp(there, ".ledg-*")
	if err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// started returns ErrFinished or ErrUnfinished if the run in a folder has results.
func started(path string) error {
	if Finished(os.DirFS(path)) {
		return fmt.Errorf("%s: %w", path, ErrFinished)
	}
	found, err := hasBesides(path, ConfigFile, PlaceFile)
	if err == nil && found != "" {
		err = fmt.Errorf("%s: %w", path, ErrUnfinished)
	}
	return err
}

// sameConfig returns nil if the config in a run's directory says the same as the one
// that this process has, and otherwise names the first difference.
func sameConfig(stored []byte, own config.Config) error {
	var began config.Config
	if err := decodeFormatted(stored, &began); err != nil {
		return err
	}
	if path, was, is := config.Difference(began, own); path != "" {
		return fmt.Errorf("it has %s = %s, this run has %s", path, was, is)
	}
	return nil
}

// refuseStranger returns ErrForeign if path has files but no config.json. The remains of a process
// that was killed inside Create do not count.
func refuseStranger(path string) error {
	if _, err := os.Lstat(filepath.Join(path, ConfigFile)); err == nil {
		return nil
	}
	var own []string
	if isPlace(path) {
		own = []string{PlaceFile}
	}
	found, err := hasBesides(path, own...)
	if _, again := os.Lstat(filepath.Join(path, ConfigFile)); again == nil {
		return nil // another process has just begun the run
	}
	if err == nil && found != "" {
		err = fmt.Errorf("%w: %s has %s but no %s", ErrForeign, path, found, ConfigFile)
	}
	return err
}

// hasBesides returns the name of something in the directory besides the given
// names, the lock and temporary files; "" when there is nothing.
func hasBesides(path string, names ...string) (string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if n := e.Name(); n != lockFile && !regular.IsTemp(n) && !slices.Contains(names, n) {
			return n, nil
		}
	}
	return "", nil
}

// removeTemps removes the temporary files of killed writers.
func removeTemps(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if regular.IsTemp(e.Name()) {
			if err := os.Remove(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Started reports whether the folder holds a run that has started.
func Started(path string) bool {
	_, err := os.Stat(filepath.Join(path, lockFile))
	return err == nil
}

// Finished reports whether the run in fsys is finished.
func Finished(fsys fs.FS) bool {
	_, err := fs.Stat(fsys, DoneFile)
	return err == nil
}

// File returns the path of the named file in the folder.
func (d *Dir) File(name string) string { return filepath.Join(d.path, name) }

// FS returns the folder for reading.
func (d *Dir) FS() fs.FS { return os.DirFS(d.path) }

// Close releases the lock. It may be called repeatedly.
func (d *Dir) Close() error { return d.lock.Close() }

// Held returns ErrTaken unless the folder is the opened one, locked by this process.
func (d *Dir) Held() error {
	lock, err := d.lock.Stat()
	if err != nil {
		return err
	}
	for path, own := range map[string]fs.FileInfo{d.path: d.opened, d.File(lockFile): lock} {
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, own) {
			return fmt.Errorf("%s: %w", d.path, ErrTaken)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write calls f, which writes into the folder, while the lock is held. An error after the folder
// was taken away is ErrTaken.
func (d *Dir) write(f func() error) error {
	err := d.Held()
	if err != nil {
		return err
	}
	if err = f(); err != nil {
		if taken := d.Held(); errors.Is(taken, ErrTaken) {
			return taken
		}
	}
	return err
}

// WriteFile atomically replaces the named file in the folder.
func (d *Dir) WriteFile(name string, write func(w io.Writer) error) error {
	return d.write(func() error {
		return regular.WriteFile(d.File(name), func(w io.Writer) error {
			if err := write(w); err != nil {
				return err
			}
			return d.Held() // it may have taken long
		})
	})
}

// whole returns a function that writes data.
func whole(data []byte) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// Lengths holds the lengths of a run's files at a checkpoint, in bytes.
type Lengths struct {
	Records int64 `json:"records"`
	Queries int64 `json:"queries"`
}

// Lengths returns the current lengths. Append first, then write the checkpoint that holds these
// lengths: after a crash, Truncate removes what was appended since, and the resumed run computes
// it again.
func (d *Dir) Lengths() (Lengths, error) {
	records, err := fileLength(d.File(RecordsFile))
	if err != nil {
		return Lengths{}, err
	}
	queries, err := fileLength(d.File(QueriesFile))
	if err != nil {
		return Lengths{}, err
	}
	return Lengths{Records: records, Queries: queries}, nil
}

// Truncate shortens the files to the lengths of a checkpoint; the zero Lengths empty them. Files
// shorter than l are an error.
func (d *Dir) Truncate(l Lengths) error {
	return d.write(func() error {
		if err := truncateFile(d.File(RecordsFile), l.Records); err != nil {
			return err
		}
		return truncateFile(d.File(QueriesFile), l.Queries)
	})
}

// AppendRecord appends a line to records.jsonl and syncs it to disk.
func (d *Dir) AppendRecord(r Record) error {
	line, err := r.Line()
	if err != nil {
		return fmt.Errorf("record of epoch %d: %w", r.Epoch, err)
	}
	return d.write(func() error { return appendFile(d.File(RecordsFile), line) })
}

// Records reads records.jsonl strictly; a missing file has none.
func (d *Dir) Records() ([]Record, error) {
	records, _, err := ReadRecords(d.FS(), RecordsFile, WholeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.path, err)
	}
	return records, nil
}

// Finish writes result.json and then the file done. The run is then finished and never written
// again.
func (d *Dir) Finish(r Result) error {
	data, err := r.JSON()
	if err != nil {
		return fmt.Errorf("%s: %w", ResultFile, err)
	}
	if err := d.WriteFile(ResultFile, whole(data)); err != nil {
		return err
	}
	return d.WriteFile(DoneFile, whole([]byte("finished\n")))
}
