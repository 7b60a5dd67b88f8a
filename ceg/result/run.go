package result

import (
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

// Run is a recorded run, in its own folder or collected with others ([Runs.Collect]). Tables,
// figures and pages read runs in this form.
type Run struct {
	// Path is the run's folder; for a collected run, the folder of the collection joined with
	// its name.
	Path string
	// Config are the settings.
	Config config.Config
	// Records are the epochs' records; an incomplete last one of an unfinished run is left out.
	Records []Record
	// Result is nil while the run is unfinished. It follows from the records.
	Result *Result

	fsys fs.FS
}

// OpenRun reads the run at path: a run's folder, or the folder of a collection joined with the
// run's name.
func OpenRun(path string) (*Run, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s: it is not a run's directory", path)
	}
	path = filepath.Clean(path)
	return OpenRuns(filepath.Dir(path)).Run(filepath.Base(path))
}

// FS returns the files of the run at a path as [OpenRun] takes it.
func FS(path string) (fs.FS, error) {
	path = filepath.Clean(path)
	return OpenRuns(filepath.Dir(path)).FS(filepath.Base(path))
}

// readRun is the one reader of a run's files. Records that do not fit together are an error.
func readRun(fsys fs.FS) (*Run, error) {
	r := &Run{fsys: fsys}
	settings, err := regular.ReadFS(fsys, ConfigFile, maxSettings)
	if err == nil {
		if r.Config, err = config.Parse(settings); err != nil {
			err = fmt.Errorf("%s: %w", ConfigFile, err)
		}
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

func (r *Run) Name() string { return filepath.Base(r.Path) }

// Queries reads the run's queries. The error is fs.ErrNotExist if the collection omitted them.
func (r *Run) Queries() ([]Query, error) { return readOf(r, QueriesFile, parseQueries) }

// Map reads the t-SNE coordinates of the run's pool in [MapFile], Scores the scores
// of its last round's candidates. The error is fs.ErrNotExist if they were not computed.
func (r *Run) Map() ([]MapPoint, error)     { return readOf(r, MapFile, parseMap) }
func (r *Run) Scores() ([]Candidate, error) { return readOf(r, ScoresFile, parseScores) }

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

// File reads another file of the run. The error is fs.ErrNotExist if it does not exist.
func (r *Run) File(name string) ([]byte, error) { return regular.ReadFS(r.fsys, name, maxLines) }

// Runs are the runs in a folder, in folders of their own or collected.
type Runs struct {
	// Path is the folder's.
	Path string

	collected func() (collection, error)
}

// OpenRuns opens a folder of runs, which may be missing. It is read on demand, collections once.
func OpenRuns(path string) *Runs {
	return &Runs{path, sync.OnceValues(func() (collection, error) { return readCollection(path) })}
}

// FS returns the files of the named run, from its folder if it is finished there, else from the
// collection or its folder.
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

// Run reads the named run. An error names it.
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

// Result reads the result of the named finished run, without its records. An error names the run.
func (r *Runs) Result(name string) (*Result, error) {
	fsys, err := r.FS(name)
	if err != nil {
		return nil, err
	}
	res, err := ReadResult(fsys, ResultFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.Path, name), err)
	}
	return &res, nil
}

// Names lists the runs, sorted.
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

// State returns the state of the named run; see [RunState]. A collected run is finished.
func (r *Runs) State(name string) (State, error) {
	if c, err := r.collected(); err != nil {
		return 0, err
	} else if _, ok := c.lines[name]; ok {
		return Complete, nil
	}
	return RunState(r.Path, name)
}

// OpenAll reads the runs at paths: each a run as [OpenRun] takes it, or a folder of runs.
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
