package page

import (
	"fmt"
	"html/template"
	"io"

	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets/rgb"
)

type sitePage struct {
	page
	*site.Report
	Shown []siteVisit
}

type siteVisit struct {
	*site.VisitReport
	Wrong, Strange []tile
}

// picturesOfSite is how many pictures of errors a page shows.
const picturesOfSite = 24

// WriteSite writes the report of a site as a page like the page of runs. picture returns the
// images that it shows; an unavailable one is shown by name.
func WriteSite(w io.Writer, r *site.Report, picture func(id string) (*rgb.Image, error)) error {
	show := func(id string) template.URL {
		m, err := picture(id)
		if err != nil {
			return ""
		}
		return thumbnail(m.ToImage())
	}
	p := sitePage{page: newPage(r.Site), Report: r}
	for _, v := range r.Visits {
		s := siteVisit{VisitReport: v}
		for _, e := range v.Errors[:min(len(v.Errors), picturesOfSite)] {
			s.Wrong = append(s.Wrong, tile{ID: e.ID, Is: e.Class, Seen: fmt.Sprintf("%s, %.0f%%", e.Seen, 100*e.Probability), Picture: show(e.ID)})
		}
		if v.Estimate != nil {
			for _, id := range v.Estimate.Strangest {
				s.Strange = append(s.Strange, tile{ID: id, Picture: show(id)})
			}
		}
		p.Shown = append(p.Shown, s)
	}
	return write(w, "site.html.tmpl", p)
}
