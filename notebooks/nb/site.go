package nb

import (
	"context"
	"fmt"
	"strings"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/visit"
)

// Site evaluates and adapts a run on a new domain, as ledg site does, shows the results, and
// returns the report. The complete page is report.html in the site's folder.
func Site(o visit.Options) *site.Report {
	a := Must(visit.Arrive(context.Background(), o))
	Markdown("**%s**", a.Report.Sentence)
	for _, v := range a.Report.Visits {
		Table(visitTable(a.Report.Site, v), nil)
	}
	if lines := a.Report.Thresholds(); len(lines) > 0 {
		Markdown("- %s", strings.Join(lines, "\n- "))
	}
	if w := a.Report.Warnings; len(w) > 0 {
		Markdown("- Warning: %s.", strings.Join(w, ".\n- Warning: "))
	}
	if a.Open > 0 {
		Markdown("*%d labels are missing: `nb.Label(%q)` queries them.*", a.Open, o.Dir)
	}
	return a.Report
}

// visitTable returns the estimate and the audited accuracies of a visit, in total and by class.
func visitTable(name string, v *site.VisitReport) *result.Table {
	t := NewTable(fmt.Sprintf("%s, %d images", name, v.Images), "accuracy %", "95% interval", "right")
	row := func(what string, i *audit.Interval, right fmt.Stringer) {
		t.AddRow(what, fmt.Sprintf("%.0f", 100*i.Share), fmt.Sprintf("%.0f to %.0f", 100*i.Low, 100*i.High), right.String())
	}
	if e := v.Estimate; e != nil && e.Accuracy != nil {
		t.AddRow("label-free estimate", fmt.Sprintf("%.0f", 100**e.Accuracy), "none", "")
	}
	if v.Before != nil {
		row("audit, before adaptation", v.Before, v.Pairs.Before())
	}
	if v.After != nil {
		row("audit, after adaptation", v.After, v.Pairs.After())
		t.AddRow("gain, points", fmt.Sprintf("%+.0f", 100*v.Gain.Share), fmt.Sprintf("%+.0f to %+.0f", 100*v.Gain.Low, 100*v.Gain.High), "")
	}
	inUse := ", before adaptation"
	if v.After != nil && !v.Unadapted {
		inUse = ", after adaptation"
	}
	for _, c := range v.Classes {
		if c.Accuracy != nil {
			row("class "+c.Class+inUse, c.Accuracy, c.Tally)
		}
	}
	return t
}
