package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Run is what is recorded of one run: in a folder of its own, or collected with others
// ([Runs.Collect]). Whoever makes tables, figures or pages of runs reads them as this.
type Run struct {
	// Path is the run's folder; of a collected run that of the others' and its name,
	// where its own was.
	Path string
	// Config are the settings.
	Config config.Config
	// Records are those of the epochs, of an unfinished run without a last one that
	// is half-written.
	Records []Record
	// Result is nil while the run is unfinished. It follows from the records.
	Result *Result

	fsys fs.FS
}

// OpenRun reads the run at a path: a run's folder, or the name of a collected run behind
// the folder that it was collected in.
func OpenRun(path string) (*Run, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s: it is not a run's directory", path)
	}
	path = filepath.Clean(path)
	return OpenRuns(filepath.Dir(path)).Run(filepath.Base(path))
}

// FS returns the files of the run at a path, which is one as [OpenRun] takes it.
func FS(path string) (fs.FS, error) {
	path = filepath.Clean(path)
	return OpenRuns(filepath.Dir(path)).FS(filepath.Base(path))
}

// readRun is the one reader of a run's files. What does not fit together is an error.
func readRun(fsys fs.FS) (*Run, error) {
	r := &Run{fsys: fsys}
	settings, err := readSettings(fsys, ConfigFile)
	if err == nil {
		err = json.Unmarshal(settings, &r.Config)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("it is not a run's directory: %w", err)
		}
		return nil, err
	}
	finished, tail := Finished(fsys), WholeLines
	if finished {
		tail = WholeFile
	}
	r.Records, _, err = ReadRecords(fsys, RecordsFile, tail)
	if !finished {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return r, err
	}
	if err != nil {
		return nil, err
	}
	res, err := ReadResult(fsys, ResultFile)
	if err != nil {
		return nil, err
	}
	if err := res.Verify(r.Records); err != nil {
		return nil, fmt.Errorf("%s: %w", ResultFile, err)
	}
	r.Result = &res
	return r, nil
}

// Name is the name of the run's folder.
func (r *Run) Name() string { return filepath.Base(r.Path) }

// Queries reads what the run asked for. The error is fs.ErrNotExist for a run that was
// collected without it.
func (r *Run) Queries() ([]Query, error) { return readOf(r, QueriesFile, parseQueries) }

// Map reads the map of the run's pool, Scores the scores of what its last round could
// ask about. The error is fs.ErrNotExist if nothing has computed it.
func (r *Run) Map() ([]MapPoint, error)     { return readOf(r, MapFile, parseMap) }
func (r *Run) Scores() ([]Candidate, error) { return readOf(r, ScoresFile, parseScores) }

// readOf reads a file of the run.
func readOf[T any](r *Run, name string, parse func(name string, data []byte) (T, error)) (v T, err error) {
	data, err := r.File(name)
	if err == nil {
		v, err = parse(name, data)
	}
	if err != nil {
		return v, fmt.Errorf("%s: %w", r.Path, err)
	}
	return v, nil
}

// File reads another file that is kept with the run. The error is fs.ErrNotExist if
// there is none of the name.
func (r *Run) File(name string) ([]byte, error) { return regular.ReadFS(r.fsys, name, maxLines) }

// Runs are the runs in a folder: those that have a folder in it, and those that were
// collected there.
type Runs struct {
	// Path is the folder's.
	Path string

	collected func() (collection, error)
}

// OpenRuns opens a folder of runs, which need not be there. It is read when it is
// needed, the collected ones once.
func OpenRuns(path string) *Runs {
	return &Runs{path, sync.OnceValues(func() (collection, error) { return readCollection(path) })}
}

// FS returns the files of the run of a name: of its folder, or else as they were
// collected. A run that is in both is read from its folder if it is finished there.
func (r *Runs) FS(name string) (fs.FS, error) {
	own := os.DirFS(filepath.Join(r.Path, name))
	if Finished(own) {
		return own, nil
	}
	c, err := r.collected()
	if err != nil {
		return nil, err
	}
	if _, ok := c.lines[name]; !ok {
		return own, nil
	}
	fsys, err := c.files(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.Path, name), err)
	}
	return fsys, nil
}

// Run reads the run of a name. An error names it.
func (r *Runs) Run(name string) (*Run, error) {
	path := filepath.Join(r.Path, name)
	fsys, err := r.FS(name)
	if err != nil {
		return nil, err
	}
	run, err := readRun(fsys)
	if err != nil {
		if _, statErr := os.Stat(path); errors.Is(err, fs.ErrNotExist) && statErr != nil {
			err = errors.Unwrap(statErr) // the path is named below
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	run.Path = path
	return run, nil
}

// Names lists the runs that are there, sorted.
func (r *Runs) Names() ([]string, error) {
	c, err := r.collected()
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(r.Path, "*", ConfigFile))
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range c.lines {
		names = append(names, name)
	}
	for _, path := range found {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// State looks at how the run of a name stands; see [RunState]. A collected run is
// finished.
func (r *Runs) State(name string) (State, error) {
	if c, err := r.collected(); err != nil {
		return 0, err
	} else if _, ok := c.lines[name]; ok {
		return Complete, nil
	}
	return RunState(r.Path, name)
}

// OpenAll reads the runs that paths name: each a run as [OpenRun] takes it, or a folder
// with all runs in it.
func OpenAll(paths ...string) ([]*Run, error) {
	var list []*Run
	folders := map[string]*Runs{}
	folder := func(path string) *Runs {
		if folders[path] == nil {
			folders[path] = OpenRuns(path)
		}
		return folders[path]
	}
	for _, path := range paths {
		path = filepath.Clean(path)
		parent, names := folder(filepath.Dir(path)), []string{filepath.Base(path)}
		if s, err := parent.State(names[0]); err != nil {
			return nil, err
		} else if s == NotStarted {
			all := folder(path)
			if found, err := all.Names(); err != nil {
				return nil, err
			} else if len(found) > 0 {
				parent, names = all, found
			}
		}
		for _, name := range names {
			r, err := parent.Run(name)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
	}
	return list, nil
}
