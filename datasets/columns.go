package datasets

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/sheet"
)

// ColumnNames are the columns of a table that the user chooses; an empty name leaves the choice to
// [ReadColumns].
type ColumnNames struct {
	ID    string `json:"id,omitempty"`
	Class string `json:"class,omitempty"`
	Site  string `json:"site,omitempty"`
	Group string `json:"group,omitempty"`
}

// Columns are the columns of a table that are used, by purpose.
type Columns struct {
	// Note says in one line which columns are used for what, and which are not.
	Note string

	head []string
	hub  string // the table whose folder names of files lead from, or empty
	// Indices into head; nil for none. The cells of an ID are joined by slashes, those of a class
	// by a space. place names where an event was, and numbered reports that events may have the
	// same names at several places.
	id, class, site, group, split, place []int
	numbered                             bool
}

// Names of columns, in the order in which they count.
var (
	idColumns = []string{"path", "file_name", "filename", "file", "filepath", "image_path", "image_file", "image_name", "image", "photo",
		"relative_path", "absolute_path", "id", "image_id"}
	// folderColumns stand beside the name of a file alone, and rootColumns beside both: Timelapse
	// writes RootFolder, RelativePath and File.
	folderColumns, rootColumns = []string{"relative_path", "folder", "directory", "dir", "path"}, []string{"root_folder", "folder"}

	classColumns = []string{"label", "class", "category"}
	// taxonColumns name classes, too, if those columns do not; a rank of taxonomy is the last choice.
	taxonColumns = []string{"species", "class_name", "category_name", "label_name", "species_name", "common_name", "species_common_name", "vernacular_name",
		"scientific_name", "taxon", "taxon_name", "choice"}
	// rankColumns beside class make it a rank, and so do values that are all of rankClasses.
	rankColumns = []string{"genus", "family", "order", "phylum", "kingdom"}
	rankClasses = strings.Fields("mammalia aves reptilia amphibia squamata testudines actinopterygii actinopteri teleostei chondrichthyes elasmobranchii insecta arachnida " +
		"malacostraca diplopoda chilopoda gastropoda bivalvia cephalopoda asteroidea echinoidea anthozoa magnoliopsida liliopsida pinopsida polypodiopsida bryopsida agaricomycetes")
	siteColumns = []string{"site", "site_id", "site_name"}
	// placeColumns may be sites, if the user says so.
	placeColumns = []string{"deployment_id", "deployment", "location_id", "location_name", "location", "station_id", "station", "camera_id", "camera"}
	groupColumns = []string{"group", "group_id"}
	eventColumns = []string{"event_id", "event", "sequence_id", "seq_id", "sequence", "burst_id", "burst"}
	splitColumns = []string{"split", "subset", "partition"}
)

// Missing reports whether a cell stands for a missing value, as pandas (its default na_values), R,
// spreadsheets, MATLAB and Wildlife Insights write one.
func Missing(cell string) bool {
	switch strings.TrimSpace(cell) {
	case "", "-", "NaN", "nan", "NAN", "-NaN", "-nan", "NA", "N/A", "n/a", "N.A.", "n.a.", "<NA>", "NaT", "None", "NONE", "NULL", "Null", "null",
		"#NV", "No CV Result", "unlabelled", "unlabeled",
		"#N/A", "#N/A N/A", "#NA", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!", "#NAME?", "#NUM!", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN":
		return true
	}
	return false
}

func (c *Columns) called(columns []int) string {
	names := make([]string, len(columns))
	for i, k := range columns {
		names[i] = printable(c.head[k])
	}
	return strings.Join(names, " + ")
}

// note says which columns are used for what, and which are not, those first that may be classes.
func (c *chooser) note(also []string) string {
	var used, missing []string
	taken := slices.Concat(c.id, c.class, c.site, c.group, c.split)
	for _, use := range []struct {
		what    string
		columns []int
	}{{"images", c.id}, {"classes", c.class}, {"sites", c.site}, {"groups", c.group}, {"splits", c.split}} {
		if use.columns == nil {
			continue
		}
		text := use.what + " from " + c.called(use.columns)
		if use.what == "classes" && c.rank >= 0 {
			text += " (class is a rank of taxonomy)"
		}
		used = append(used, text)
		if x := c.cells[use.columns[0]]; x.missing > 0 && use.what != "images" && use.what != "classes" {
			missing = append(missing, fmt.Sprintf("; %s of %s without a value, such as %s", plural(x.missing, "cell"), c.head[x.index], x.nothing))
		}
	}
	if k := sheet.Column(c.head, timeColumns...); k >= 0 && !slices.Contains(taken, k) {
		taken, used = append(taken, k), append(used, "times from "+printable(c.head[k]))
	}
	for _, name := range also {
		taken = append(taken, sheet.Column(c.head, name))
	}
	var rest []string
	leave := func(i int) {
		if !slices.Contains(taken, i) && c.head[i] != "" && c.cells[i].filled > 0 {
			taken, rest = append(taken, i), append(rest, printable(c.head[i]))
		}
	}
	others := 0
	for _, class := range c.classes {
		for _, i := range class {
			leave(i)
		}
		others = len(rest)
	}
	for i := range c.head {
		leave(i)
	}
	text := strings.Join(used, ", ") + strings.Join(missing, "")
	if len(rest) > 0 {
		const few = 8
		text += "; not used: " + strings.Join(rest[:min(few, len(rest))], ", ")
		if more := len(rest) - few; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	if others > 0 || c.rank >= 0 && slices.Contains(c.class, c.rank) {
		text += "; --class-column chooses another class"
	}
	if c.site == nil && c.place != nil {
		text += fmt.Sprintf("; --site-column %s reads sites", c.called(c.place))
	}
	return text
}

// Label reads a row. A missing value of a class stays as it is: it may be the name of one.
func (c *Columns) Label(r sheet.Row) Label {
	l := Label{ID: r.At(c.id[0]), Where: r.Where}
	switch {
	case len(c.id) > 1:
		l.ID = strings.ReplaceAll(join(r, c.id, "/"), `\`, "/")
		if l.ID != "" && !strings.Contains(l.ID, "/") { // without a folder it is the root's, and no other's
			l.ID = "./" + l.ID
		}
	case c.hub != "":
		l.ID = beside(c.hub, l.ID)
	}
	cell := func(columns []int) string {
		if columns == nil {
			return ""
		}
		return join(r, columns, " ")
	}
	l.Site, l.Group, l.Split = cell(c.site), cell(c.group), cell(c.split)
	if l.Class = cell(c.class); l.Class == "" && len(c.class) == 1 {
		l.Class = strings.TrimSpace(Unguard(strings.TrimSpace(r.At(c.class[0]))))
	}
	return l
}

// HasClass reports whether a column names classes.
func (c *Columns) HasClass() bool { return c.class != nil }

// eventPlace returns where the event of a row was: its site, or else the folder below the root.
func (c *Columns) eventPlace(r sheet.Row, l Label) string {
	if l.Site != "" {
		return l.Site
	}
	if c.place != nil {
		return join(r, c.place, " ")
	}
	p := strings.ReplaceAll(strings.TrimSpace(Unguard(l.ID)), `\`, "/")
	first, _, below := strings.Cut(p, "/")
	if isAbs(p) {
		first, below = path.Dir(p), true
	}
	if !below || first == l.Class {
		return ""
	}
	return first
}

// separateEvents puts the place in front of the names of events if an event is at several places:
// their numbers begin again at each.
func separateEvents(list []Label, places []string) {
	first := make(map[string]string)
	several := false
	for i, l := range list {
		if place, ok := first[l.Group]; l.Group != "" && !ok {
			first[l.Group] = places[i]
		} else if l.Group != "" && place != places[i] {
			several = true
		}
	}
	for i, l := range list {
		if several && l.Group != "" && places[i] != "" {
			list[i].Group = places[i] + "/" + l.Group
		}
	}
}

// present returns a text, "" for a missing value.
func present(text string) string {
	if Missing(text) {
		return ""
	}
	return text
}
