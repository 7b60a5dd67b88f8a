package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name       string
	data       []byte
	executable bool
}

// wheel is the name and the bytes of a wheel (PEP 427) that puts a binary into the scripts
// folder of an environment, beside the Python module in a folder.
func wheel(version, tag string, module fs.FS, binary entry, licences []entry, at time.Time) (string, []byte, error) {
	info := fmt.Sprintf("ledg-%s.dist-info", version)
	var files []entry
	err := fs.WalkDir(module, "ledg", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "__pycache__") {
			return err
		}
		data, err := fs.ReadFile(module, path)
		files = append(files, entry{name: path, data: data})
		return err
	})
	if err != nil {
		return "", nil, err
	}
	files = append(files, entry{fmt.Sprintf("ledg-%s.data/scripts/%s", version, binary.name), binary.data, true})
	for _, l := range licences {
		files = append(files, entry{name: info + "/licenses/" + l.name, data: l.data})
	}
	tags := ""
	for one := range strings.SplitSeq(tag, ".") {
		tags += "Tag: py3-none-" + one + "\n"
	}
	files = append(files,
		entry{name: info + "/METADATA", data: []byte(metadata(version))},
		entry{name: info + "/WHEEL", data: []byte("Wheel-Version: 1.0\nGenerator: ledg\nRoot-Is-Purelib: false\n" + tags)})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%s/RECORD,,\n", info)
	files = append(files, entry{name: info + "/RECORD", data: []byte(record.String())})
	data, err := zipped(files, at)
	return fmt.Sprintf("ledg-%s-py3-none-%s.whl", version, tag), data, err
}

// metadata is the metadata of the Python package (core metadata 2.4).
func metadata(version string) string {
	return `Metadata-Version: 2.4
Name: ledg
Version: ` + version + `
Summary: Label-efficient domain generalization: which images to label, and a model that works where nobody labelled
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Keywords: active learning,domain generalization,semi-supervised learning,labelling
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.10
Provides-Extra: numpy
Requires-Dist: numpy>=1.23; extra == "numpy"
Project-URL: Source, https://github.com/ledg-go/ledg
Description-Content-Type: text/markdown

` + "`ledg` chooses which of your images to label, trains on labelled and unlabelled images of\n" +
		"several domains together, and says how well that works on a domain never seen. This package\n" +
		"carries the command, and functions over arrays:\n\n" +
		"```python\nimport ledg\n\nrows = ledg.query(n=20, strategy=\"maxherding\", features=pool, labelled_features=known)\n```\n"
}

// zipped is a zip file whose bytes depend on its files and the time alone.
func zipped(files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode())
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

func (f entry) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}
