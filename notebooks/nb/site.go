package nb

import (
	"context"

	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/site/visit"
)

// Site takes a run to a site, as ledg site does, shows what is known of it then, and returns
// the report. The whole page is the file report.html in the site's folder.
func Site(o visit.Options) *site.Report {
	a := Must(visit.Arrive(context.Background(), o))
	Markdown("```text\n%s```", a.Report)
	if a.Open > 0 {
		Markdown("*%d labels are missing: `nb.Label(%q)` queries them.*", a.Open, o.Dir)
	}
	return a.Report
}
