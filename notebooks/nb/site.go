package nb

import (
	"context"

	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/site/visit"
)

// Site evaluates and adapts a run on a new domain, as ledg site does, shows the results, and
// returns the report. The complete page is report.html in the site's folder.
func Site(o visit.Options) *site.Report {
	a := Must(visit.Arrive(context.Background(), o))
	Markdown("```text\n%s```", a.Report)
	if a.Open > 0 {
		Markdown("*%d labels are missing: `nb.Label(%q)` queries them.*", a.Open, o.Dir)
	}
	return a.Report
}
