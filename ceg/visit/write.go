package visit

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/report/page"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// writePage writes the report as a page.
func writePage(dir string, r *site.Report, d *datasets.Dataset) error {
	return regular.WriteFile(filepath.Join(dir, site.PageFile), func(w io.Writer) error {
		return page.WriteSite(w, r, func(id string) (*rgb.Image, error) {
			i, ok := d.Index(id)
			if !ok {
				return nil, fmt.Errorf("%s is not there any more", id)
			}
			return d.Image(i)
		})
	})
}

// writePredictions writes the predicted classes of the images, visit by visit. looksNew is empty
// where it is not known.
func writePredictions(path string, classes []string, visits []site.Part, looksNew map[string]string, adapted *head.Linear, temperature float64, calibrated bool) error {
	return regular.WriteFile(path, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		rows.Write([]string{"path", "class", "probability", "second", "margin", "entropy", "visit", "looks_new", "calibrated"}) // its error stays for Error
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		for k, part := range visits {
			logits := site.LogitsOf(part, adapted)
			for i, id := range part.IDs {
				probs := calibration.Softmax(site.Row(logits, i), temperature)
				first, second := calibration.TopTwo(probs)
				rows.Write([]string{datasets.Guard(id), datasets.Guard(classes[first]), number(probs[first]), datasets.Guard(classes[second]), number(probs[first] - probs[second]), number(active.Entropy(probs)), strconv.Itoa(k + 1), looksNew[id], strconv.FormatBool(calibrated)})
			}
		}
		rows.Flush()
		return rows.Error()
	})
}
