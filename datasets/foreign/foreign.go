// Package foreign recognises files of other tools that ledg does not read as they are, or not at that
// place, and says what to do with each.
package foreign

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Format is a format of files.
type Format string

const (
	MegaDetector Format = "MegaDetector's results, with boxes and no labels"
	SpeciesNet   Format = "SpeciesNet's predictions"
	Camtrap      Format = "a Camtrap DP data package"
	COCO         Format = "a COCO file of annotations"
	LabelStudio  Format = "an export of Label Studio"
	CVAT         Format = "an export of CVAT"
	VOC          Format = "a Pascal VOC file of boxes"
	Datumaro     Format = "an export of Datumaro"
	FiftyOne     Format = "an export of FiftyOne"
	Excel        Format = "an Excel workbook"
	OpenDocument Format = "an OpenDocument spreadsheet"
	SQLite       Format = "an SQLite database, as Timelapse has one"
	Parquet      Format = "a Parquet file"
	NumPy        Format = "an archive of NumPy arrays"
	PyTorch      Format = "a PyTorch file"
	HDF5         Format = "an HDF5 file"
	WebDataset   Format = "a WebDataset shard, a tar archive"
	Tar          Format = "a tar archive"
	Zip          Format = "a zip archive"
	Compressed   Format = "a compressed file"
	SevenZip     Format = "a 7z archive"
	RAR          Format = "a RAR archive"
	Arrow        Format = "an Arrow file, as Hugging Face's data sets and feather have"
	Pickle       Format = "a pickle of Python"
	MATLAB       Format = "a file of MATLAB"
	Access       Format = "a database of Access"
)

const (
	importIt = "ledg label import --format %s reads it"
	write    = "write its %s as a CSV file, and its images, if it has some, as files of a folder"
)

// advice says what to do with a file of each format.
var advice = map[Format]string{
	MegaDetector: "give it as --boxes with the folder of its photos as --root, and its boxes are the items",
	SpeciesNet:   "give it as --boxes with the folder of its photos as --root; its species are suggestions, not labels of people",
	Camtrap:      "give its observations.csv or datapackage.json as --labels, and the folder of its media as --root",
	COCO:         fmt.Sprintf(importIt, "coco"),
	LabelStudio:  fmt.Sprintf(importIt, "labelstudio"),
	CVAT:         fmt.Sprintf(importIt, "cvat"),
	VOC:          "crop the photos to the boxes, or give a table with the columns path and label",
	Datumaro:     "export it as COCO instead, which ledg label import --format coco reads",
	FiftyOne:     "export class folders instead (ImageClassificationDirectoryTree), which ledg label import --format folder reads",
	Excel:        "save it as CSV (UTF-8)",
	OpenDocument: "save it as CSV (UTF-8)",
	SQLite:       "export its table as a CSV file",
	Parquet:      fmt.Sprintf(write, "rows"),
	NumPy:        "as features, give it with --dataset features",
	PyTorch:      "write its images as files of a folder and its labels as a CSV file",
	HDF5:         "write its images as files of a folder and its labels as a CSV file",
	WebDataset:   "unpack all shards into one folder (tar -xf SHARD.tar -C FOLDER); its .cls files have the labels, for a CSV file of path and label",
	Tar:          "unpack it (tar -xf FILE -C FOLDER) and give the folder",
	Zip:          "unpack it (unzip FILE -d FOLDER) and give the folder",
	Compressed:   "unpack it (tar -xf for .tar.gz and the like, gunzip, unxz or unzstd for one file) and give what was in it",
	SevenZip:     "unpack it (7z x FILE) and give the folder",
	RAR:          "unpack it (unrar x FILE) and give the folder",
	Arrow:        fmt.Sprintf(write, "rows"),
	Pickle:       fmt.Sprintf(write, "labels"),
	MATLAB:       fmt.Sprintf(write, "labels"),
	Access:       "export its table as a CSV file",
}

// Error is the error of a file of a foreign format.
type Error struct {
	Path   string
	Format Format
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: it is %s: %s", e.Path, e.Format, advice[e.Format])
}

// Check returns an *Error for a file of a foreign format, except for some that the caller reads. Other
// files, and those that cannot be read, are none.
func Check(path string, read ...Format) error {
	if f := Of(path); f != "" && !slices.Contains(read, f) {
		return &Error{path, f}
	}
	return nil
}

// magics are the first bytes of files.
var magics = []struct {
	begin  string
	format Format
}{
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Excel}, {"SQLite format 3\x00", SQLite}, {"PAR1", Parquet}, {"\x89HDF\r\n\x1a\n", HDF5},
	{"7z\xbc\xaf\x27\x1c", SevenZip}, {"Rar!\x1a\x07", RAR}, {"\x1f\x8b", Compressed}, {"\xfd7zXZ\x00", Compressed}, {"BZh", Compressed},
	{"\x28\xb5\x2f\xfd", Compressed}, {"ARROW1", Arrow}, {"FEA1", Arrow}, {"\xff\xff\xff\xff\x10\x00\x00\x00", Arrow}, {"\xff\xff\xff\xff\x18\x00\x00\x00", Arrow},
	{"\x80\x02}", Pickle}, {"\x80\x03", Pickle}, {"\x80\x04\x95", Pickle}, {"\x80\x05\x95", Pickle}, {"MATLAB 5.0 MAT-file", MATLAB},
	{"\x00\x01\x00\x00Standard ", Access},
}

// sniffed is how much of a file is read, in bytes.
const sniffed = 1 << 20

// Of returns the format of a file by its content, empty for an own one.
func Of(path string) Format {
	f, err := regular.Open(path, 1<<62)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, sniffed))
	if err != nil {
		return ""
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.begin)) {
			return m.format
		}
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return ofZip(f, path)
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return ofTar(head)
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		if strings.EqualFold(filepath.Ext(path), ".jsonl") {
			return ""
		}
		return ofJSON(text)
	case bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("<annotations>")):
		return CVAT
	case bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("<annotation")):
		return VOC
	}
	head, _, _ = bytes.Cut(text, []byte("\n"))
	if line := strings.ToLower(string(head)); strings.Contains(line, "max_confidence") && strings.Contains(line, "detections") || strings.Contains(line, "bbox") && strings.Contains(line, "conf") {
		return MegaDetector
	}
	return ""
}

// ofZip tells office documents and archives of tensors from other archives.
func ofZip(f *os.File, path string) Format {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		return NumPy
	case ".pt", ".pth":
		return PyTorch
	}
	info, err := f.Stat()
	if err != nil {
		return Zip
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return Zip
	}
	for _, e := range z.File {
		switch {
		case e.Name == "xl/workbook.xml" || e.Name == "xl/workbook.bin":
			return Excel
		case e.Name == "content.xml":
			return OpenDocument
		}
	}
	return Zip
}

// ofTar looks for the labels and the descriptions of a shard.
func ofTar(head []byte) Format {
	for r := tar.NewReader(bytes.NewReader(head)); ; {
		e, err := r.Next()
		if err != nil {
			return Tar
		}
		if strings.HasSuffix(e.Name, ".cls") || strings.HasSuffix(e.Name, "__key__") {
			return WebDataset
		}
	}
}

// ofJSON tells formats by the names of fields, in the part of a file that was read.
func ofJSON(text []byte) Format {
	names := make(map[string]bool)
	fields(json.NewDecoder(bytes.NewReader(text)), "", 0, names) // what the part has
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(name string) bool { return names[name] })
	}
	switch {
	case has("images[].detections", "images[].max_detection_conf", "detection_categories"):
		return MegaDetector
	case has("predictions[].filepath", "predictions[].classifications", "predictions[].prediction"):
		return SpeciesNet
	case has("resources[].name") && (bytes.Contains(text, []byte("camtrap")) || bytes.Contains(text, []byte(`"observations"`))):
		return Camtrap
	case has("items[].annotations"):
		return Datumaro
	case has("annotations[].category_id", "annotations[].image_id", "images[].file_name"):
		return COCO
	case has("labels") && has("classes"):
		return FiftyOne
	case has("[].annotations", "[].completions", "[].annotation_id"):
		return LabelStudio
	}
	return ""
}

// fields collects the names of fields up to the third level.
func fields(d *json.Decoder, at string, depth int, names map[string]bool) error {
	const deepest = 64
	t, err := d.Token()
	if err != nil || depth > deepest {
		return errors.Join(err, errors.ErrUnsupported)
	}
	switch t {
	case json.Delim('['):
		for d.More() {
			if err := fields(d, at+"[]", depth+1, names); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			if at != "" {
				name = at + "." + name
			}
			if depth <= 3 {
				names[name] = true
			}
			if err := fields(d, name, depth+1, names); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = d.Token()
	return err
}

// ends are the ends of names by which [Folder] looks into a file.
var ends = []string{".tar", ".tgz", ".gz", ".xz", ".bz2", ".zst", ".zip", ".7z", ".rar", ".parquet", ".h5", ".hdf5", ".npz", ".pt", ".arrow", ".feather", ".mat", ".pkl", ".001"}

// Folder returns an *Error for the first file of a folder, at any depth, that is an archive or another
// file that may have the images which the folder lacks.
func Folder(dir string) (found error) {
	const most = 10_000
	n := 0
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; n > most || err != nil {
			return fs.SkipAll
		}
		if d.Type().IsRegular() && slices.Contains(ends, strings.ToLower(filepath.Ext(path))) {
			found = Check(path)
		}
		if found != nil {
			return fs.SkipAll
		}
		return nil
	})
	return found
}
