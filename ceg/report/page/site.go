package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets/rgb"
)

//go:embed site.html.tmpl
var siteText string

// sitePage is what the page of a site shows.
type sitePage struct {
	*site.Report
	Style     template.CSS
	StyleHash string
	Shown     []siteVisit
}

// siteVisit is a visit with its pictures.
type siteVisit struct {
	*site.VisitReport
	Wrong, Strange []siteTile
	// Known are the classes of the network, the columns of the confusion.
	Known []string
	Rows  []siteRow
}

type siteRow struct {
	Class    string
	Accuracy string
	Right    string
	Counts   []int
}

type siteTile struct {
	ID, Class, Seen string
	Picture         template.URL
}

// picturesOfSite is how many pictures of errors a page shows.
const picturesOfSite = 24

// WriteSite writes the report of a site as a page like the page of runs. picture returns the
// images that it shows; an unavailable one is shown by name.
func WriteSite(w io.Writer, r *site.Report, picture func(id string) (*rgb.Image, error)) error {
	sum := sha256.Sum256([]byte(style))
	p := sitePage{Report: r, Style: template.CSS(style), StyleHash: base64.StdEncoding.EncodeToString(sum[:])}
	show := func(id string) (u template.URL) {
		if m, err := picture(id); err == nil {
			u, _ = thumbnail(m.ToImage()) // else the name stands there
		}
		return u
	}
	for _, v := range r.Visits {
		s := siteVisit{VisitReport: v, Known: r.Classes}
		for _, e := range v.Errors[:min(len(v.Errors), picturesOfSite)] {
			s.Wrong = append(s.Wrong, siteTile{e.ID, e.Class, fmt.Sprintf("%s, %.0f%%", e.Seen, 100*e.Probability), show(e.ID)})
		}
		if v.Estimate != nil {
			for _, id := range v.Estimate.Strangest {
				s.Strange = append(s.Strange, siteTile{ID: id, Picture: show(id)})
			}
		}
		for _, c := range v.Classes {
			row := siteRow{Class: c.Class, Right: c.Tally.String(), Accuracy: "too few"}
			if c.Accuracy != nil {
				row.Accuracy = c.Accuracy.String()
			}
			for i, name := range v.Counts.Classes {
				if name == c.Class {
					row.Counts = v.Counts.Counts[i]
				}
			}
			s.Rows = append(s.Rows, row)
		}
		p.Shown = append(p.Shown, s)
	}
	t, err := template.New("").Funcs(template.FuncMap{
		"percent":  func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) },
		"interval": func(i *audit.Interval) string { return i.String() },
		"points": func(i *audit.Interval) string {
			return fmt.Sprintf("%+.0f points, %+.0f to %+.0f", 100*i.Share, 100*i.Low, 100*i.High)
		},
	}).Parse(siteText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
