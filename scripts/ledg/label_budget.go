package main

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/site"
)

// withinBudget leaves out imported labels of photos that the run has not queried, if they would exceed
// its budget. line says so; it is empty if all labels are kept. A site has no budget.
func (f *labelFiles) withinBudget(events []labels.Event) (kept []labels.Event, line string, err error) {
	if f.run == "" || site.Is(f.run) {
		return events, "", nil
	}
	c, data, _, err := run.OpenData(ceg.Options{Dir: f.run, Root: f.data.root, SplitsDir: f.data.splits, FollowLinks: f.data.followLinks})
	if err != nil {
		return nil, "", err
	}
	p, err := campaign.New(c, data)
	if err != nil {
		return nil, "", err
	}
	l, err := labels.Open(f.ledger, f.dataset.Classes, labels.Options{Domain: labels.DomainIn(f.dataset)})
	if err != nil {
		return nil, "", err
	}
	defer l.Close()
	queried, beside := 0, map[string]bool{}
	l.View(func(s *labels.State) {
		for range s.Images() {
			queried++
		}
		for _, e := range events {
			if s.Image(e.ID).Status == labels.IsUnqueried {
				beside[e.ID] = true
			} else {
				kept = append(kept, e)
			}
		}
	})
	if len(beside) == 0 || queried+len(beside) <= p.Budget {
		return events, "", nil
	}
	return kept, fmt.Sprintf("labels of %s images that %s has not queried are left out: its budget is %d labels; %s trains on more",
		humanize.Comma(int64(len(beside))), f.run, p.Budget, shell.Line("ledg", "extend", f.run, "--labels", "FILE")), nil
}
