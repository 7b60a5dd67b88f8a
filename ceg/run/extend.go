package run

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Extension describes a new run that starts from the labels of another. Empty fields take the
// other run's values.
type Extension struct {
	// Of is the folder of the other run, finished or not.
	Of string
	// Budget is the total number of labels, including those taken over.
	Budget string
	Epochs int
	// Classes lists all classes, or only the new ones, each prefixed with "+".
	Classes []string
	Target  string
	// Root, SplitsDir, Labels, Columns and FollowLinks have the meaning of the fields in Options.
	Root, SplitsDir, Labels string
	Columns                 datasets.ColumnNames
	FollowLinks             bool
	CacheDir                string
	// Exclude lists patterns of files and folders that are left out, besides the run's own;
	// features have left them out already.
	Exclude []string
}

// Extended is what a new run takes over from another.
type Extended struct {
	Config Config
	// Place locates its data and weights.
	Place result.Place
	// Taken is the number of labels taken over, By counts them by annotator, and ToQuery is the
	// number of labels left to query.
	Taken, ToQuery int
	By             map[string]int
	// Gone lists labelled images that are no longer in the data set. Aside lists labelled images
	// that are now in the target domain or a validation split. The labels of both are dropped.
	Gone, Aside []string
	// Corrected counts labels that differ from the data set's current classes, which replace
	// them.
	Corrected int
	// Again lists images that showed none of the classes before there were new ones. They are
	// queried again, first.
	Again []string
	// Unfinished is true if the other run has not finished.
	Unfinished bool

	begun      []labels.Event
	ledger     []labels.Event
	userLabels []datasets.Label
}

// Extend plans a run that starts from the labels of another; it takes over no network. A budget
// below the number of labels is an error, and so is a label of a class that no longer exists.
func Extend(x Extension) (*Extended, error) {
	c, err := readConfig(x.Of)
	if err != nil {
		return nil, err
	}
	e := &Extended{By: map[string]int{}, Unfinished: !result.Finished(os.DirFS(x.Of))}
	place := result.Place{Root: x.Root, SplitsDir: x.SplitsDir, Labels: x.Labels, Columns: x.Columns, FollowLinks: x.FollowLinks, CacheDir: x.CacheDir}
	if e.Place, err = result.Locate(x.Of, c.Data.Dataset, place); err != nil {
		return nil, err
	}
	if x.Labels != "" {
		t, err := labels.ReadTable(x.Labels, x.Columns)
		if err != nil {
			return nil, &config.Error{Path: "data.labels", Err: err}
		}
		c.Data.Labels = labels.Digest(t.Labels)
	}
	if e.userLabels, err = examples.UserLabels(c.Data, x.Of, x.Labels, x.Columns); err != nil {
		return nil, err
	}
	before := c.Data.Classes
	if c.Data.Classes, err = classesOf(x, c, place); err != nil {
		return nil, err
	}
	more := x.Classes != nil && (before == nil || slices.ContainsFunc(c.Data.Classes, func(name string) bool { return !slices.Contains(before, name) }))
	if x.Budget != "" {
		if _, err := active.ParseBudget(x.Budget); err != nil {
			return nil, &config.Error{Path: "exploration.budget", Err: err}
		}
		c.Exploration.Budget = x.Budget
	}
	if x.Target != "" {
		c.Data.Target = x.Target
	}
	if x.Epochs != 0 {
		c = c.WithEpochs(x.Epochs)
	}
	if c.Data.Dataset == "folder" {
		c.Data.Exclude = append(slices.Clone(c.Data.Exclude), x.Exclude...)
	}
	c.Format = config.Format
	data, truth, err := examples.Open(c.Data, x.Of, place)
	if err != nil {
		return nil, err
	}
	campaign, err := campaign.New(c, data)
	if err != nil {
		return nil, err
	}
	if err := e.take(x.Of, c, campaign, truth); err != nil {
		return nil, err
	}
	if more {
		e.queryAgain(campaign)
	}
	least := e.Taken + len(e.Again)
	if x.Budget != "" && campaign.Budget < least {
		again := ""
		if n := len(e.Again); n > 0 {
			again = fmt.Sprintf(", with %d images of none of the old classes to query again", n)
		}
		return nil, config.Errorf("exploration.budget", "%s is %d labels, and %s has %d already%s", x.Budget, campaign.Budget, x.Of, e.Taken, again)
	}
	if campaign.Budget < least { // more labels arrived than were queried
		e.Config.Exploration.Budget = strconv.Itoa(least)
	}
	e.ToQuery = max(len(e.Again), campaign.Budget-e.Taken)
	return e, e.Config.Validate()
}

// classesOf returns the classes of an extension, nil for those that folders and labels name.
func classesOf(x Extension, c Config, place result.Place) ([]string, error) {
	if x.Classes == nil {
		return c.Data.Classes, nil
	}
	if info, _ := datasets.Lookup(c.Data.Dataset); !info.Yours {
		return nil, config.Errorf("data.classes", "data set %s has its own classes", info.Name)
	}
	if !slices.ContainsFunc(x.Classes, func(name string) bool { return strings.HasPrefix(name, "+") }) {
		return x.Classes, datasets.ValidClasses(x.Classes)
	}
	list := slices.Clone(c.Data.Classes)
	if list == nil {
		data, _, err := examples.Open(c.Data, x.Of, place)
		if err != nil {
			return nil, err
		}
		list = data.Classes
	}
	for _, name := range x.Classes {
		more, ok := strings.CutPrefix(name, "+")
		if !ok {
			return nil, config.Errorf("data.classes", "%s: want all classes, or +NAME for each that is new", strings.Join(x.Classes, ","))
		}
		if slices.Contains(list, more) {
			return nil, config.Errorf("data.classes", "+%s: the run has that class already: %s", more, strings.Join(list, ", "))
		}
		list = append(list, more)
	}
	return list, datasets.ValidClasses(list)
}

func (e *Extended) take(dir string, c Config, p *campaign.Campaign, truth datasets.Truth) error {
	list, err := e.labelEvents(dir, c)
	if err != nil {
		return err
	}
	var begun []campaign.Labelled
	var unknown []string
	for _, a := range list {
		i, ok := p.Data.Index(a.ID)
		if !ok {
			e.Gone = append(e.Gone, a.ID)
			continue
		}
		if _, ok := p.Domain(a.ID); !ok {
			e.Aside = append(e.Aside, a.ID)
			continue
		}
		if c.Exploration.Oracle != config.People && truth.Knows(i) && p.Data.Classes[truth.Class(i)] != a.Class {
			a.Class = p.Data.Classes[truth.Class(i)]
			e.Corrected++
		}
		if !slices.Contains(p.Data.Classes, a.Class) && !slices.Contains(unknown, a.Class) {
			unknown = append(unknown, a.Class)
		}
		e.begun = append(e.begun, a)
		begun = append(begun, campaign.Labelled{Question: labels.Question{ID: a.ID}, Class: a.Class, By: a.By})
		e.By[campaign.Name(a.By)]++
	}
	if unknown != nil {
		return config.Errorf("data.classes", "%s has labels of the class %s, which is none of %s", dir, strings.Join(unknown, ", "), strings.Join(p.Data.Classes, ", "))
	}
	switch e.Taken = len(begun); {
	case len(list) == 0:
		return fmt.Errorf("%s has no labels to begin with: begin another run", dir)
	case e.Taken == 0:
		return fmt.Errorf("none of the %d images that %s has labels of is among those to train on in %s, as %s is none", len(list), dir, e.Place.Root, list[0].ID)
	}
	c.Exploration.Begun = campaign.BegunDigest(begun)
	if e.Config = c; c.Exploration.Oracle != config.People {
		return nil
	}
	e.ledger = slices.DeleteFunc(e.ledger, func(v labels.Event) bool { // what the new ledger would refuse
		_, ok := p.Data.Index(v.ID)
		return v.ID != "" && !ok || v.Class != "" && !slices.Contains(p.Data.Classes, v.Class)
	})
	return nil
}

// queryAgain makes queries of the images that showed none of the classes.
func (e *Extended) queryAgain(p *campaign.Campaign) {
	var again []labels.Event
	e.ledger = slices.DeleteFunc(e.ledger, func(v labels.Event) bool {
		if v.Kind != labels.None {
			return false
		}
		if _, ok := p.Domain(v.ID); ok && !slices.Contains(e.Again, v.ID) {
			e.Again = append(e.Again, v.ID)
			again = append(again, labels.Event{Kind: labels.Queried, ID: v.ID, Domain: v.Domain, By: campaign.ExtendBy, At: v.At})
		}
		return true
	})
	e.ledger = append(e.ledger, again...)
}

// labelEvents returns the labels of the run in a directory with their annotators; for people, the
// new run takes over all events of the ledger.
func (e *Extended) labelEvents(dir string, c Config) (list []labels.Event, err error) {
	if c.Exploration.Oracle == config.People {
		s, _, err := labels.Read(os.DirFS(dir), labels.File, nil, labels.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		e.ledger = s.Standing()
		for v := range s.Images() {
			if v.Class != "" {
				list = append(list, labels.Event{Kind: labels.Labelled, ID: v.ID, Domain: v.Domain, Class: v.Class, By: v.By, At: v.At})
			}
		}
		return list, nil
	}
	run, err := result.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	queries, err := run.Queries()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(filepath.Join(dir, result.QueriesFile))
	if err != nil {
		return nil, err
	}
	for _, q := range queries {
		list = append(list, labels.Event{Kind: labels.Labelled, ID: q.ID, Domain: q.Domain, Class: q.Class, By: campaign.SimulatedBy, At: info.ModTime()})
	}
	return list, nil
}

// Write creates the folder of the run, which must be missing or empty, completely or not at all.
// Run with Options.Resume then starts it.
func (e *Extended) Write(dir string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	made := filepath.Join(filepath.Dir(dir), fmt.Sprintf(".%s-%d", filepath.Base(dir), os.Getpid()))
	if err := os.Mkdir(made, 0o777); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(made)
		}
	}()
	for _, path := range []*string{&e.Place.Root, &e.Place.SplitsDir, &e.Place.Labels} {
		if *path != "" {
			if *path, err = filepath.Abs(*path); err != nil {
				return err
			}
		}
	}
	files := map[string]func(io.Writer) error{
		result.ConfigFile: func(w io.Writer) error { return result.WriteConfig(w, e.Config) },
		result.PlaceFile:  e.Place.Write,
		labels.BegunFile:  func(w io.Writer) error { return labels.WriteEvents(w, e.begun) },
	}
	if e.ledger != nil {
		files[labels.File] = func(w io.Writer) error { return labels.WriteEvents(w, e.ledger) }
	}
	if e.userLabels != nil {
		files[labels.UserLabelsFile] = func(w io.Writer) error { return labels.WriteUserLabels(w, e.userLabels) }
	}
	for name, write := range files {
		if err := regular.WriteFile(filepath.Join(made, name), write); err != nil {
			return err
		}
	}
	return os.Rename(made, dir)
}
