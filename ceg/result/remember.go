package result

import (
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// keepFeatures keeps a file of features in the folder, unless there is one, and returns its
// path.
func (d *Dir) keepFeatures(from string) (path string, err error) {
	path = d.File(FeaturesFile)
	if _, err := os.Stat(path); err == nil || os.Link(from, path) == nil {
		return path, nil
	}
	return path, regular.CopyFile(from, path)
}

// KeepNetwork copies the files of an ONNX network into the folder, unless they are there: the
// network first, then the weight files that it refers to by relative paths.
func (d *Dir) KeepNetwork(files []string) error {
	if len(files) == 0 {
		return nil
	}
	from := filepath.Dir(files[0])
	for _, f := range slices.Backward(files) { // the network last: where it is the others are
		name, err := filepath.Rel(from, f)
		if err != nil {
			return err
		}
		to := d.File(filepath.Join(NetworkDir, name))
		if _, err := os.Stat(to); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := regular.CopyFile(f, to); err != nil {
			return err
		}
	}
	return nil
}

// Remember records where the run found its data and weights, and its engine. It copies the
// features into the folder if this is enabled.
func (d *Dir) Remember(p Place) error {
	old, err := ReadPlace(d.File(""))
	if err != nil {
		return err
	}
	now, err := p.in(old, d.dataset)
	if err != nil {
		return err
	}
	if now.Keep && now.Root != "" {
		if now.Root, err = d.keepFeatures(now.Root); err != nil {
			return err
		}
		now.Keep = false
	}
	if now == old {
		return nil
	}
	return d.WritePlace(now)
}

// LeaveOut lists the files that are not used, unless the folder has the list.
func (d *Dir) LeaveOut(files []datasets.Skipped) error {
	if len(files) == 0 {
		return nil
	}
	if _, err := os.Stat(d.File(LeftOutFile)); err == nil {
		return nil
	}
	return d.WriteFile(LeftOutFile, func(w io.Writer) error {
		c := csv.NewWriter(w)
		c.Write([]string{"path", "reason"}) // Flush has the error
		for _, f := range files {
			c.Write([]string{f.ID, f.Reason})
		}
		c.Flush()
		return c.Error()
	})
}
