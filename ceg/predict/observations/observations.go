// Package observations writes predictions of photos in the formats of other tools: MegaDetector's JSON
// with classifications, tables for Timelapse and Wildlife Insights, and media and observations of Camtrap DP
// 1.0 (camtrap-dp.tdwg.org).
package observations

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"mime"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/detections"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Item is a prediction of a box, or of a whole image.
type Item struct {
	Box         rgb.Box // zero for a whole image
	Class       string
	Probability float64
	Abstained   bool
}

// class is unknown where the network abstains.
func (v Item) class() string {
	if v.Abstained {
		return "unknown"
	}
	return v.Class
}

// Unit is a prediction of several items: of the boxes of an image, or of all items of an event.
type Unit struct {
	// Name is the image's path or the event's name.
	Name string
	// Class is the most probable class: of an image that of its most certain box, of an event the one of
	// the mean of its items' logits. Without a box it is person or vehicle where the
	// detector sees one, else blank; it is empty where the detector failed.
	Class       string
	Probability float64
	// Abstained is true if the network abstains.
	Abstained bool
	// Frames is the number of images, and Count the largest number of boxes in one; 1 for a whole
	// image.
	Frames, Count int
	// Classes are the largest numbers of items of each class in an image.
	Classes map[string]int
	// Event is the image's event, empty for none, and Reason why an image has no box.
	Event, Reason string
	// Items are the predictions of an image's boxes, or its own, and Detected what the detector says of it,
	// nil for nothing.
	Items    []Item
	Detected *detections.Image
	// Path is relative to the folder of the images, with slashes, and Time when it was taken, zero if not
	// known. Its event is from Start to End. All of them are for exports alone.
	Path             string
	Time, Start, End time.Time
}

// Counts returns "deer 2|boar 1", the most frequent first.
func (u *Unit) Counts() string {
	names := slices.SortedFunc(maps.Keys(u.Classes), func(a, b string) int { return cmp.Or(u.Classes[b]-u.Classes[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprint(name, " ", u.Classes[name])
	}
	return strings.Join(names, "|")
}

// Format is an export format.
type Format string

// The formats.
const (
	MegaDetector Format = "megadetector"
	Timelapse    Format = "timelapse"
	Camtrap      Format = "camtrap"
	Wildlife     Format = "wildlifeinsights"
)

// Formats lists the formats; Camtrap is written to a folder, the others to a file.
func Formats() []Format { return []Format{MegaDetector, Timelapse, Camtrap, Wildlife} }

// Options are the settings of Write.
type Options struct {
	// Boxes are those that were predicted, nil for whole images.
	Boxes *datasets.Boxes
	// By names the network.
	By string
}

// Write writes predictions, replacing files of the same names. notes are lines about what is assumed.
func Write(f Format, out string, images []*Unit, o Options) (notes []string, err error) {
	untimed := 0
	for _, m := range images {
		m.Classes = make(map[string]int) // counts of unknown ones, too
		for _, v := range m.Items {
			m.Classes[v.class()]++
		}
		if m.Time.IsZero() {
			untimed++
		}
	}
	if f != MegaDetector {
		notes = append(notes, "times are those of the cameras' clocks, as if in UTC")
		if untimed > 0 {
			notes[0] += fmt.Sprintf("; %d images have none", untimed)
		}
	}
	switch f {
	case MegaDetector:
		return nil, writeMegaDetector(out, images, o)
	case Timelapse:
		return notes, table(out, timelapse(images))
	case Wildlife:
		return append(notes, "deployments are called after the first folder; project_id and wi_taxon_id are yours to fill in"), table(out, wildlife(images, o))
	case Camtrap:
		if err := os.MkdirAll(out, 0o777); err != nil {
			return nil, err
		}
		if err := table(filepath.Join(out, "media.csv"), media(images)); err != nil {
			return nil, err
		}
		return append(notes, "deployments are called after the first folder; deployments.csv, with their coordinates, is yours"), table(filepath.Join(out, "observations.csv"), camtrap(images, o))
	}
	return nil, fmt.Errorf("there is no format %q; want one of %v", f, Formats())
}

// table writes a CSV file.
func table(out string, rows [][]string) error {
	return regular.WriteFile(out, func(w io.Writer) error {
		c := csv.NewWriter(w)
		for _, row := range rows {
			for i, cell := range row {
				row[i] = datasets.Guard(cell)
			}
			c.Write(row) // its error stays for Error
		}
		c.Flush()
		return c.Error()
	})
}

// deployment is the first folder of an image.
func (m *Unit) deployment() string {
	if first, _, below := strings.Cut(m.Path, "/"); below {
		return first
	}
	return "all"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02T15:04:05Z")
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// share is a probability with four decimals.
func share(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }

func timelapse(images []*Unit) [][]string {
	rows := [][]string{{"File", "RelativePath", "DateTime", "Class", "Confidence", "Count", "Classes", "Event"}}
	for _, m := range images {
		dir, at, confidence := path.Dir(m.Path), "", ""
		if dir == "." {
			dir = ""
		}
		if !m.Time.IsZero() {
			at = m.Time.Format(time.DateTime)
		}
		class := m.Class
		if len(m.Items) > 0 {
			confidence = share(m.Probability)
			if !slices.ContainsFunc(m.Items, func(v Item) bool { return !v.Abstained }) {
				class = "unknown"
			}
		}
		rows = append(rows, []string{path.Base(m.Path), strings.ReplaceAll(dir, "/", `\`), at, class, confidence, strconv.Itoa(m.Count), m.Counts(), m.Event})
	}
	return rows
}

func media(images []*Unit) [][]string {
	rows := [][]string{{"mediaID", "deploymentID", "captureMethod", "timestamp", "filePath", "filePublic", "fileName", "fileMediatype", "exifData", "favorite", "mediaComments"}}
	for _, m := range images {
		kind := cmp.Or(mime.TypeByExtension(strings.ToLower(path.Ext(m.Path))), "image/jpeg")
		rows = append(rows, []string{m.Path, m.deployment(), "", stamp(m.Time), m.Path, "false", path.Base(m.Path), kind, "", "", ""})
	}
	return rows
}

// kinds are the types of observations of classes that are no animals.
var kinds = map[string]string{"person": "human", "human": "human", "homo sapiens": "human", "vehicle": "vehicle", "blank": "blank", "": "unclassified", "unknown": "unknown"}

// camtrap makes an observation of each item, and of each person and vehicle of the detector whose score is
// that of the boxes; one of an image without any is blank, or unclassified if nothing is known.
func camtrap(images []*Unit, o Options) [][]string {
	rows := [][]string{{"observationID", "deploymentID", "mediaID", "eventID", "eventStart", "eventEnd", "observationLevel", "observationType", "cameraSetupType", "scientificName", "count",
		"lifeStage", "sex", "behavior", "individualID", "individualPositionRadius", "individualPositionAngle", "individualSpeed", "bboxX", "bboxY", "bboxWidth", "bboxHeight",
		"classificationMethod", "classifiedBy", "classificationTimestamp", "classificationProbability", "observationTags", "observationComments"}}
	for _, m := range images {
		n := 0
		add := func(class, by string, p float64, b rgb.Box) {
			n++
			kind, name, count, box, probability := kinds[strings.ToLower(class)], "", "1", make([]string, 4), share(p)
			switch kind {
			case "":
				kind, name = "animal", class
			case "blank", "unclassified":
				count, probability = "", ""
			}
			if b != (rgb.Box{}) && max(b.X, b.Y, b.W, b.H) <= 1 {
				box = []string{number(b.X), number(b.Y), number(b.W), number(b.H)}
			}
			method := "machine"
			if kind == "unclassified" {
				method, by = "", ""
			}
			event, start, end := m.Event, m.Start, m.End
			if event == "" {
				event, start, end = m.Path, m.Time, m.Time
			}
			row := []string{fmt.Sprint(m.Path, "#", n), m.deployment(), m.Path, event, stamp(start), stamp(end), "media", kind, "", name, count, "", "", "", "", "", "", ""}
			rows = append(rows, append(append(row, box...), method, by, "", probability, "", ""))
		}
		for _, v := range m.Items {
			add(v.class(), o.By, v.Probability, v.Box)
		}
		if m.Detected != nil && o.Boxes != nil {
			for _, b := range m.Detected.Boxes {
				if kind := kinds[b.Class]; (kind == "human" || kind == "vehicle") && b.Score >= o.Boxes.Score && !slices.Contains(o.Boxes.Classes, b.Class) {
					add(b.Class, "detector", b.Score, b.Box)
				}
			}
		}
		if n == 0 {
			add(m.Class, "detector", 0, rgb.Box{})
		}
	}
	return rows
}

// scientific is a name of a genus and a species.
var scientific = regexp.MustCompile(`^([A-Z][a-z]+) ([a-z-]+)$`)

func wildlife(images []*Unit, o Options) [][]string {
	rows := [][]string{{"project_id", "deployment_id", "image_id", "filename", "location", "is_blank", "identified_by", "wi_taxon_id", "class", "order", "family", "genus", "species", "common_name",
		"uncertainty", "timestamp", "age", "sex", "animal_recognizable", "individual_id", "number_of_objects", "individual_animal_notes", "behavior", "highlighted", "markings", "cv_confidence", "license"}}
	for _, m := range images {
		best := make(map[string]float64)
		for _, v := range m.Items {
			best[v.class()] = max(best[v.class()], v.Probability)
		}
		names := slices.Sorted(maps.Keys(m.Classes))
		if len(names) == 0 {
			names = []string{m.Class}
		}
		for _, name := range names {
			blank, genus, species, common, confidence, count := "0", "", "", name, "", m.Classes[name]
			if name == "blank" {
				blank, common = "1", "Blank"
			} else if words := scientific.FindStringSubmatch(name); words != nil {
				genus, species, common = words[1], words[2], ""
			}
			if count > 0 {
				confidence = share(best[name])
			} else if blank == "0" && name != "" { // of the detector
				count = 1
			}
			at := ""
			if !m.Time.IsZero() {
				at = m.Time.Format(time.DateTime)
			}
			rows = append(rows, []string{"", m.deployment(), m.Path, path.Base(m.Path), m.Path, blank, o.By, "", "", "", "", genus, species, common,
				"", at, "", "", "", "", strconv.Itoa(count), "", "", "", "", confidence, ""})
		}
	}
	return rows
}
