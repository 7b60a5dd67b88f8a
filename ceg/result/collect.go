package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"github.com/ledg-go/ledg/datasets/regular"
)

// collectedSuffix ends the name of a file of collected runs. It is the whole name of the
// one that holds those which no plan in the folder names; before it stands the name of
// a plan.
const collectedSuffix = "runs.jsonl.zst"

// CollectedFile returns the name of the file with the collected runs of a plan; an empty name
// means runs without a plan.
func CollectedFile(plan string) string {
	if plan == "" {
		return collectedSuffix
	}
	return plan + "." + collectedSuffix
}

// textFiles are the files of a run that are collected as they are, if they are there.
var textFiles = []string{QueriesFile, MapFile, ScoresFile, CalibrationFile}

// head is the first line of a file of collected runs: the names of the runs in the lines
// below it.
type head struct {
	Format int      `json:"format"`
	Runs   []string `json:"runs"`
}

// line is a collected run.
type line struct {
	Name    string            `json:"name"`
	Config  json.RawMessage   `json:"config"`
	Result  json.RawMessage   `json:"result"`
	Records []json.RawMessage `json:"records"`
	// Texts are the textFiles.
	Texts map[string]string `json:"texts"`
}

// collection are the collected runs of a folder.
type collection struct {
	lines map[string][]byte // by the run's name
	file  map[string][]byte // the content of each file, by its name
}

// readCollection reads the files of collected runs in a folder; a folder that is not
// there has none.
func readCollection(path string) (collection, error) {
	c := collection{map[string][]byte{}, map[string][]byte{}}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	for _, e := range entries {
		if name := e.Name(); name == collectedSuffix || strings.HasSuffix(name, "."+collectedSuffix) {
			if err := c.read(path, name); err != nil {
				return c, fmt.Errorf("%s: %w", filepath.Join(path, name), err)
			}
		}
	}
	return c, nil
}

// maxCollected is the most bytes that a file of collected runs has unpacked, and
// maxRatio how many times its packed ones they are, of a file that is not small.
const maxCollected, maxRatio = 4 << 30, 256

func (c collection) read(path, name string) error {
	data, err := ReadPacked(filepath.Join(path, name))
	if err != nil {
		return err
	}
	c.file[name] = data
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	var h head
	if err := decodeFormatted(first, &h); err != nil {
		return err
	}
	for i, run := range h.Runs {
		text, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return fmt.Errorf("it ends before run %d of %d, %s", i+1, len(h.Runs), run)
		}
		if _, ok := c.lines[run]; !ok {
			c.lines[run] = text
		}
		rest = after
	}
	if len(rest) > 0 {
		return fmt.Errorf("there is more after the last of %d runs", len(h.Runs))
	}
	return nil
}

// files unpacks a run's line.
func (c collection) files(name string) (fs.FS, error) {
	var l line
	if err := Decode(c.lines[name], &l); err != nil {
		return nil, err
	}
	if l.Name != name {
		return nil, fmt.Errorf("its line is of %s", l.Name)
	}
	var records bytes.Buffer
	for _, r := range l.Records {
		records.Write(r)
		records.WriteByte('\n')
	}
	f := fstest.MapFS{ConfigFile: {Data: l.Config}, ResultFile: {Data: l.Result}, RecordsFile: {Data: records.Bytes()}, DoneFile: {}}
	for name, text := range l.Texts {
		f[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return f, nil
}

// Omit selects parts of runs that [Collect] leaves out. Tables and figures of accuracy need none
// of them.
type Omit struct {
	// Queries omits queries.csv.
	Queries bool
	// Training omits what describes an epoch's training: losses, learning rates, counts of
	// pseudo-labels and of the reliable set, and all times but the run's total. They read as zero.
	// Counts by class stay in the records of the epochs that one of the three rules selects.
	Training bool
}

// brief returns the record without what Training omits.
func (r Record) brief(selected bool) Record {
	r.Loss, r.LearningRate, r.PseudoLabel, r.Reliable, r.Time = Losses{}, LearningRates{}, PseudoLabel{}, Tally{}, Time{}
	if selected {
		return r
	}
	r.Accuracy = slices.Clone(r.Accuracy)
	for i := range r.Accuracy {
		r.Accuracy[i].Classes = nil
	}
	return r
}

// pack makes a line of a finished run.
func (r *Run) pack(o Omit) ([]byte, error) {
	short := *r.Result
	if o.Training {
		t := short.Timing
		short.Timing = Timing{Began: t.Began, Seconds: t.Seconds, Machine: t.Machine, Threads: t.Threads}
	}
	res, err := short.Line()
	if err != nil {
		return nil, err
	}
	settings, err := json.Marshal(r.Config)
	if err != nil {
		return nil, err
	}
	l := line{Name: r.Name(), Config: settings, Result: res, Texts: map[string]string{}}
	for _, rec := range r.Records {
		if o.Training {
			rec = rec.brief(slices.ContainsFunc(r.Result.Accuracy.Rules(), func(rule Rule) bool {
				return rule.Choice != nil && rule.Choice.Epoch == rec.Epoch
			}))
		}
		text, err := rec.Line()
		if err != nil {
			return nil, err
		}
		l.Records = append(l.Records, text)
	}
	for _, name := range textFiles {
		if o.Queries && name == QueriesFile {
			continue
		}
		switch data, err := r.File(name); {
		case err == nil:
			l.Texts[name] = string(data)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return encode(l, "")
}

// Collect writes finished runs into the collected files in folder to: each into the file of the
// smallest plan there that lists it. A run replaces one of the same name; the others stay. The
// same runs and plans give the same bytes, and an unchanged file is not written.
func Collect(to string, runs []*Run, o Omit) error {
	c, err := readCollection(to)
	if err != nil {
		return err
	}
	for _, r := range runs {
		text, err := r.pack(o)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
		c.lines[r.Name()] = bytes.TrimSuffix(text, []byte("\n"))
	}
	files, err := c.share(to)
	if err != nil {
		return err
	}
	// New places first: a run that moves from one file to another is never in none.
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !bytes.Equal(files[name], c.file[name]) {
			if err := writePacked(filepath.Join(to, name), files[name]); err != nil {
				return err
			}
		}
	}
	for name := range c.file {
		if files[name] == nil {
			if err := os.Remove(filepath.Join(to, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// share returns the content of each file, by its name.
func (c collection) share(folder string) (map[string][]byte, error) {
	plans, err := ReadPlans(folder)
	if err != nil && !errors.Is(err, ErrNoPlans) {
		return nil, err
	}
	slices.SortFunc(plans, func(a, b *Plan) int {
		return cmp.Or(cmp.Compare(len(a.Runs), len(b.Runs)), cmp.Compare(a.Name, b.Name))
	})
	owner := map[string]string{} // run to file
	for _, p := range plans {
		for _, r := range p.Runs {
			owner[r.Dir] = cmp.Or(owner[r.Dir], CollectedFile(p.Name))
		}
	}
	names := map[string][]string{}
	for _, run := range slices.Sorted(maps.Keys(c.lines)) {
		file := cmp.Or(owner[run], CollectedFile(""))
		names[file] = append(names[file], run)
	}
	files := map[string][]byte{}
	for file, runs := range names {
		text, err := encode(head{Format, runs}, "")
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			text = append(append(text, c.lines[run]...), '\n')
		}
		files[file] = text
	}
	return files, nil
}

// ReadPacked reads a whole file that is compressed by Zstandard.
func ReadPacked(path string) ([]byte, error) {
	packed, err := regular.Read(path, maxCollected)
	if err != nil {
		return nil, err
	}
	most := min(maxCollected, 64<<20+maxRatio*uint64(len(packed)))
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(packed, nil)
}

// writePacked writes a file compressed by Zstandard.
func writePacked(path string, data []byte) error {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(32<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	defer e.Close()
	return regular.Write(path, e.EncodeAll(data, nil))
}
