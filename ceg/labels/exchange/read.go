package exchange

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Read reads a tool's export: a file for CSV and Label Studio, a zip archive, an XML file or a
// folder for CVAT, a folder for the others.
func Read(ctx context.Context, f Format, name string) ([]Answer, error) {
	switch f {
	case CSV:
		return readCSV(name)
	case LabelStudio:
		return readLabelStudio(name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	var fsys fs.FS
	switch {
	case info.IsDir():
		root, err := os.OpenRoot(name) // a link out of it is not followed
		if err != nil {
			return nil, err
		}
		defer root.Close()
		fsys = root.FS()
	case f == CVAT && strings.EqualFold(filepath.Ext(name), ".xml"):
		file, err := regular.Open(name, maxFile)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return readCVATXML(file, name)
	case f == CVAT:
		file, err := regular.Open(name, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		z, err := zip.NewReader(file, info.Size())
		if err == nil {
			err = checkInflated(z, info.Size())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fsys = z
	default:
		return nil, fmt.Errorf("%s: want the folder that was exported", name)
	}
	var list []Answer
	switch f {
	case FiftyOne:
		list, err = readFiftyOne(ctx, fsys, name)
	case CVAT:
		list, err = readCVAT(ctx, fsys, name)
	default:
		list, err = readTree(ctx, fsys, name)
	}
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: there is no label in it", name)
	}
	return list, err
}

// An archive may inflate to maxRatio times its size plus maxFile: images hardly compress, and
// text stays far below.
const maxRatio = 20

// checkInflated sums the declared inflated sizes of an archive's entries; no more is read of
// any.
func checkInflated(z *zip.Reader, size int64) error {
	room := uint64(maxFile + maxRatio*size)
	for _, e := range z.File {
		if e.UncompressedSize64 > room {
			return fmt.Errorf("its %d bytes inflate to more than %d: it is damaged, or no export", size, maxFile+maxRatio*size)
		}
		room -= e.UncompressedSize64
	}
	return nil
}

// readTree reads class folders: the class of an image is the name of its folder.
func readTree(ctx context.Context, fsys fs.FS, name string) ([]Answer, error) {
	var list []Answer
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if hidden := p != "." && strings.HasPrefix(path.Base(p), "."); hidden || path.Base(p) == "__MACOSX" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		where := path.Join(filepath.ToSlash(name), p)
		sum, isImage, err := imageDigest(fsys, p)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		class := path.Base(path.Dir(p))
		if !isImage || class == datasets.Unlabelled {
			return nil
		}
		if class == "." {
			return fmt.Errorf("%s: the image lies in no class folder", where)
		}
		list, err = add(list, Answer{Digest: sum, Path: p, Kind: labels.Answered, Class: class, Where: where})
		return err
	})
	return list, err
}

// imageDigest returns the digest of a file, and whether its first bytes are those of an image
// format.
func imageDigest(fsys fs.FS, p string) (sum string, isImage bool, err error) {
	f, err := regular.OpenFS(fsys, p, rgb.MaxFile)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	head := make([]byte, rgb.Magic)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false, err
	}
	if rgb.Format(head[:n]) == "" {
		return "", false, nil
	}
	h := datasets.ContentHash(head[:n])
	h.Write(head[:n])
	if _, err := io.Copy(h, f); err != nil {
		return "", false, err
	}
	return hex.EncodeToString(h.Sum(nil)), true, nil
}

// readFiftyOne reads labels.json and the images of data/, or class folders where there
// is no labels.json.
func readFiftyOne(ctx context.Context, fsys fs.FS, name string) ([]Answer, error) {
	text, err := regular.ReadFS(fsys, "labels.json", maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return readTree(ctx, fsys, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	where := filepath.Join(name, "labels.json")
	classes, given, err := fiftyOneLabels(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	files, err := fiftyOneFiles(fsys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var list []Answer
	for _, g := range given {
		a := Answer{Path: g.stem, Kind: labels.Answered, Where: fmt.Sprintf("%s:%d (%s)", where, g.line, g.stem)}
		if a.Class, err = fiftyOneClass(g.label, classes); err != nil {
			return nil, fmt.Errorf("%s: %w", a.Where, err)
		}
		if a.Class == "" {
			continue
		}
		if file, ok := files[g.stem]; ok {
			a.Path = strings.TrimPrefix(file, "data/")
			if a.Digest, _, err = imageDigest(fsys, file); err != nil {
				return nil, fmt.Errorf("%s: %w", a.Where, err)
			}
		}
		if list, err = add(list, a); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
	return list, nil
}

// fiftyOneLabel is a label in labels.json.
type fiftyOneLabel struct {
	stem  string
	label json.RawMessage
	line  int
}

// fiftyOneLabels reads labels.json: the classes, and the labels by file name without extension.
func fiftyOneLabels(text []byte) (classes []string, given []fiftyOneLabel, err error) {
	var v struct {
		Classes []string        `json:"classes"`
		Labels  json.RawMessage `json:"labels"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, nil, err
	}
	d := json.NewDecoder(bytes.NewReader(v.Labels))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, errors.New("labels: want an object")
	}
	begin := max(bytes.Index(text, v.Labels), 0)
	lineAt := lineCounter(text)
	for d.More() {
		if len(given) == maxAnswers {
			return nil, nil, fmt.Errorf("more than %d labels", maxAnswers)
		}
		t, err := d.Token()
		g := fiftyOneLabel{line: lineAt(int64(begin) + d.InputOffset())}
		if g.stem, _ = t.(string); err == nil {
			err = d.Decode(&g.label)
		}
		if err != nil {
			return nil, nil, err
		}
		given = append(given, g)
	}
	slices.SortStableFunc(given, func(a, b fiftyOneLabel) int { return strings.Compare(a.stem, b.stem) })
	return v.Classes, given, nil
}

// fiftyOneFiles returns the files of data/ by path without extension, and by base name without
// extension if it differs.
func fiftyOneFiles(fsys fs.FS) (map[string]string, error) {
	files := make(map[string]string)
	err := fs.WalkDir(fsys, "data", func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == "data" {
			return fs.SkipAll // there are only labels
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel := strings.TrimPrefix(p, "data/")
		files[strings.TrimSuffix(rel, path.Ext(rel))] = p
		return nil
	})
	return files, err
}

// fiftyOneClass returns the class of a label: an index, a name, null, or an object with
// a label and a confidence.
func fiftyOneClass(raw json.RawMessage, classes []string) (string, error) {
	var index *int
	var text string
	var object struct {
		Label json.RawMessage `json:"label"`
	}
	switch {
	case json.Unmarshal(raw, &index) == nil:
		if index == nil {
			return "", nil
		}
		if *index < 0 || *index >= len(classes) {
			return "", fmt.Errorf("label %d of %d classes", *index, len(classes))
		}
		return classes[*index], nil
	case json.Unmarshal(raw, &text) == nil:
		return text, nil
	case json.Unmarshal(raw, &object) == nil && object.Label != nil && object.Label[0] != '{':
		return fiftyOneClass(object.Label, classes)
	}
	return "", fmt.Errorf("label %.60s, want an index or a name", raw)
}

// readCVAT reads an archive of ImageNet 1.0, with images or without, of Ultralytics
// YOLO Classification, or of CVAT for images.
func readCVAT(ctx context.Context, fsys fs.FS, name string) ([]Answer, error) {
	if f, err := regular.OpenFS(fsys, "annotations.xml", maxFile); err == nil {
		defer f.Close()
		return readCVATXML(f, path.Join(filepath.ToSlash(name), "annotations.xml"))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := regular.ReadFS(fsys, "synsets.txt", maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		list, err := readTree(ctx, fsys, name)
		for i, a := range list { // label/label_image.jpg
			dir, base := path.Split(a.Path)
			list[i].Path = dir + strings.TrimPrefix(base, a.Class+"_")
		}
		return list, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var classes []string
	for line := range strings.Lines(string(text)) {
		classes = append(classes, strings.TrimRight(line, "\r\n"))
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var list []Answer
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".txt" || e.Name() == "synsets.txt" {
			continue
		}
		text, err := regular.ReadFS(fsys, e.Name(), maxFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			where := fmt.Sprintf("%s:%d", path.Join(filepath.ToSlash(name), e.Name()), n)
			a, ok, err := imageNetLine(strings.TrimSpace(line), classes)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", where, err)
			}
			if a.Where = where; ok {
				if list, err = add(list, a); err != nil {
					return nil, fmt.Errorf("%s: %w", where, err)
				}
			}
		}
	}
	return list, nil
}

// imageNetLine reads `image.jpg 3`, or `"an image".jpg 3`. ok is false for an image
// without a label.
func imageNetLine(line string, classes []string) (a Answer, ok bool, err error) {
	if line == "" {
		return a, false, nil
	}
	rest := line
	if quoted, after, found := strings.Cut(strings.TrimPrefix(line, `"`), `"`); strings.HasPrefix(line, `"`) {
		if !found {
			return a, false, fmt.Errorf("the quote of %q does not end", line)
		}
		ext, numbers, _ := strings.Cut(after, " ")
		a.Path, rest = quoted+ext, numbers
	} else {
		a.Path, rest, _ = strings.Cut(line, " ")
	}
	fields := strings.Fields(rest)
	switch len(fields) {
	case 0:
		return a, false, nil
	case 1:
	default:
		return a, false, fmt.Errorf("%q has %d labels, want one", a.Path, len(fields))
	}
	k, err := strconv.Atoi(fields[0])
	if err != nil || k < 0 || k >= len(classes) {
		return a, false, fmt.Errorf("%q has label %q, want 0 to %d, the lines of synsets.txt", a.Path, fields[0], len(classes)-1)
	}
	a.Kind, a.Class = labels.Answered, classes[k]
	return a, true, nil
}

// readCVATXML reads the tags of a CVAT for images 1.1 file.
func readCVATXML(r io.Reader, name string) ([]Answer, error) {
	d := xml.NewDecoder(bufio.NewReader(r))
	var list []Answer
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			line, _ := d.InputPos()
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Local != "image" {
			continue
		}
		line, _ := d.InputPos()
		where := fmt.Sprintf("%s:%d", name, line)
		var image struct {
			Name string `xml:"name,attr"`
			Tags []struct {
				Label string `xml:"label,attr"`
			} `xml:"tag"`
		}
		if err := d.DecodeElement(&image, &start); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		switch len(image.Tags) {
		case 0:
			continue
		case 1:
		default:
			return nil, fmt.Errorf("%s: %q has %d tags, want one", where, image.Name, len(image.Tags))
		}
		if list, err = add(list, Answer{Path: image.Name, Kind: labels.Answered, Class: image.Tags[0].Label, Where: where}); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
}
