package datasets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/sheet"
)

// IsCamtrap reports whether a file is the datapackage.json or the observations.csv of a Camtrap DP
// data package (camtrap-dp.tdwg.org), whose media are named in another table.
func IsCamtrap(path string) bool {
	if !hasSuffix(path, ".csv") {
		return foreign.Of(path) == foreign.Camtrap
	}
	is := false
	_ = sheet.Read(path, maxList, maxLine, func(head []string) error {
		is = sheet.Column(head, "mediaID") >= 0 && sheet.Column(head, "observationID", "observationType") >= 0 && sheet.Column(head, idColumns[:12]...) < 0
		return fmt.Errorf("no more than the header") // else it is read to its end
	}, nil)
	return is
}

// camtrap joins the tables of a package.
type camtrap struct {
	files map[string]string // by the names of resources
	sites map[string]string // by deployment
	// classes and events are by medium; several classes are those of a medium with several species.
	classes, events map[string]string
	several         map[string]bool
	// ofEvents counts observations of events, without a medium; spans are those events by deployment.
	ofEvents int
	spans    map[string][]span
}

// span is an event's time. Its class is empty for several.
type span struct {
	id, class  string
	begin, end time.Time
}

// at returns the event of a deployment at a time, the one that began last.
func (c *camtrap) at(deployment, timestamp string) (event span) {
	t, ok := ParseTime(timestamp)
	for _, s := range c.spans[deployment] {
		switch {
		case !ok || t.Before(s.begin) || t.After(s.end) || s.begin.Before(event.begin):
		case s.id == event.id && s.class != event.class:
			event.class = ""
		default:
			event = s
		}
	}
	return event
}

// readCamtrap reads the observations of a package as labels of its media: the class is the scientific
// name or, without one, blank, human or vehicle; the site is the location of the deployment, and the
// group the event. class names another column for classes.
func readCamtrap(path, class string) (t Table, err error) {
	c := &camtrap{files: map[string]string{}, sites: map[string]string{}, classes: map[string]string{}, events: map[string]string{}, several: map[string]bool{}, spans: map[string][]span{}}
	dir := filepath.Dir(path)
	for _, name := range []string{"observations", "media", "deployments"} {
		c.files[name] = filepath.Join(dir, name+".csv")
	}
	if hasSuffix(path, ".csv") {
		c.files["observations"] = path
	} else if err := c.resources(path); err != nil {
		return t, err
	}
	if _, err := os.Stat(c.files["media"]); err != nil {
		return t, fmt.Errorf("%s: it is an observations table of Camtrap DP, and the files of its mediaID are named in media.csv, which is not there: put it beside this file", path)
	}
	if _, err := os.Stat(c.files["deployments"]); err == nil {
		err = readRows(c.files["deployments"], func(r sheet.Row) error {
			c.sites[r.Cell("deploymentID")] = cmp.Or(present(r.Cell("locationID")), present(r.Cell("locationName")))
			return nil
		})
		if err != nil {
			return t, err
		}
	}
	if err := readRows(c.files["observations"], func(r sheet.Row) error { return c.observation(r, class) }); err != nil {
		return t, err
	}
	ofMedia, byEvent := len(c.events) > 0, 0
	err = readRows(c.files["media"], func(r sheet.Row) (err error) {
		if strings.HasPrefix(r.Cell("fileMediatype"), "video") {
			return nil
		}
		id, deployment := r.Cell("mediaID"), r.Cell("deploymentID")
		event := c.at(deployment, r.Cell("timestamp"))
		l := Label{ID: r.Cell("filePath"), Class: c.classes[id], Group: cmp.Or(c.events[id], present(r.Cell("eventID")), present(r.Cell("sequenceID")), event.id),
			Site: cmp.Or(c.sites[deployment], present(deployment)), Where: r.Where}
		if !ofMedia && event.id != "" {
			l.Class = event.class
			byEvent++
		}
		if name := r.Cell("fileName"); strings.Contains(l.ID, "://") && name != "" {
			l.ID = name
		} else if !strings.Contains(l.ID, "://") {
			l.ID = beside(c.files["media"], l.ID)
		}
		t.Labels, err = addLabel(t.Labels, l)
		return err
	})
	if !ofMedia && byEvent == 0 && c.ofEvents > 0 {
		return t, fmt.Errorf("%s: its observations are of events, without a mediaID, and no timestamp of media.csv is in one: export observations of media, or give a table of path and class", c.files["observations"])
	}
	t.media = c.files["media"]
	t.Note = fmt.Sprintf("%s: Camtrap DP: images from filePath of media.csv, classes from %s, groups from eventID, sites from deployments", filepath.Base(path), cmp.Or(class, "scientificName or observationType"))
	if n := len(c.several); n > 0 {
		t.Note += fmt.Sprintf("; %s with several species %s no class", plural(n, "image"), verb(n, "has", "have"))
	}
	if byEvent > 0 {
		t.Note += fmt.Sprintf("; observations are of events, and %s %s the class of the event at that time", plural(byEvent, "image"), verb(byEvent, "has", "have"))
	} else if c.ofEvents > 0 {
		t.Note += fmt.Sprintf("; %s of events without a photo left out", plural(c.ofEvents, "observation"))
	}
	return t, err
}

// resources reads where the tables of a package are.
func (c *camtrap) resources(path string) error {
	data, err := regular.Read(path, maxClasses)
	if err != nil {
		return err
	}
	var v struct {
		Resources []struct {
			Name string          `json:"name"`
			Path json.RawMessage `json:"path"` // or a list
		} `json:"resources"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range v.Resources {
		var file string
		if json.Unmarshal(r.Path, &file) == nil && filepath.IsLocal(file) && slices.Contains(slices.Collect(maps.Keys(c.files)), r.Name) {
			c.files[r.Name] = filepath.Join(filepath.Dir(path), file)
		}
	}
	return nil
}

func (c *camtrap) observation(r sheet.Row, column string) error {
	id, event := present(r.Cell("mediaID")), present(r.Cell("eventID"))
	class := present(r.Cell(cmp.Or(column, "scientificName")))
	if kind := strings.ToLower(r.Cell("observationType")); class == "" && slices.Contains([]string{"blank", "human", "vehicle"}, kind) {
		class = kind
	}
	if id == "" {
		c.ofEvents++
		begin, _ := ParseTime(r.Cell("eventStart"))
		end, _ := ParseTime(r.Cell("eventEnd"))
		c.spans[r.Cell("deploymentID")] = append(c.spans[r.Cell("deploymentID")], span{event, class, begin, end})
		return nil
	}
	c.events[id] = event
	switch old, met := c.classes[id]; {
	case class == "" || c.several[id]:
	case met && old != class:
		c.several[id] = true
		delete(c.classes, id)
	default:
		c.classes[id] = class
	}
	return nil
}

// readRows calls row with the rows of a table, none of which may have an error.
func readRows(path string, row func(sheet.Row) error) error {
	return sheet.Read(path, maxList, maxLine, func([]string) error { return nil }, func(r sheet.Row) error {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Where, r.Err)
		}
		return row(r)
	})
}
