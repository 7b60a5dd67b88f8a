package datasets

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/datasets/sheet"
)

// namesFile matches names of files with an extension, of images or others.
var namesFile = regexp.MustCompile(`[^./\\]\.[A-Za-z][A-Za-z0-9]{1,4}\s*$`)

// column counts the cells of a column, by kind.
type column struct {
	index                                  int
	filled, missing, files, paths, numbers int
	// runs counts the cells that differ from the one before them.
	runs          int
	last, nothing string
	values        map[string]bool // up to maxValues
}

const maxValues = 1 << 16

func (c *column) add(cell string) {
	text := strings.TrimSpace(Unguard(strings.TrimSpace(cell)))
	if Missing(text) {
		if text != "" {
			c.missing, c.nothing = c.missing+1, text
		}
		return
	}
	c.filled++
	if strings.ContainsAny(text, `/\`) {
		c.paths++
	}
	if namesFile.MatchString(text) && !strings.Contains(text, "://") {
		c.files++
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		c.numbers++
	}
	if text != c.last {
		c.runs++
	}
	if c.last = text; len(c.values) < maxValues {
		c.values[text] = true
	}
}

// splits returns how many values of a column name splits, and how many splits.
func (c *column) splits() (values, kinds int) {
	var of [3]bool
	for text := range c.values {
		if s, ok := parseSplit(text); ok {
			of[s], values = true, values+1
		}
	}
	for _, is := range of {
		if is {
			kinds++
		}
	}
	return values, kinds
}

// only reports whether all values are among some, in any case.
func (c *column) only(some []string) bool {
	for text := range c.values {
		if !slices.Contains(some, strings.ToLower(text)) {
			return false
		}
	}
	return c.filled > 0
}

// mostly reports whether more than half of the filled cells are of a kind.
func (c *column) mostly(kind int) bool { return 2*kind > c.filled }

// chooser chooses the columns of a table.
type chooser struct {
	Columns
	names ColumnNames
	cells []*column // of every column
	// classes are the columns that may name classes: each alone, or genus and species.
	classes [][]int
	rank    int // the column of the rank class, or -1
	// rows are the different rows of classes, up to maxValues, with the place of the first.
	rows map[string]string
}

// ReadColumns chooses the columns of a CSV file, by their names and by all its cells. also lists
// columns that the caller uses. A column that the user names must be there.
func ReadColumns(path string, names ColumnNames, also ...string) (*Columns, error) {
	c := &chooser{names: names, rank: -1, rows: make(map[string]string)}
	err := sheet.Read(path, maxList, maxLine, c.begin, func(r sheet.Row) error {
		if r.Err == nil {
			c.add(r)
		}
		return nil
	})
	if err == nil {
		if err = c.choose(); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return nil, err
	}
	if isHubTable(path) && c.id[0] == sheet.Column(c.head, "file_name") {
		c.hub = path
	}
	c.Note = filepath.Base(path) + ": " + c.note(also)
	return &c.Columns, nil
}

func (c *chooser) begin(head []string) error {
	c.head = slices.Clone(head)
	for i := range head {
		c.cells = append(c.cells, &column{index: i, values: make(map[string]bool)})
	}
	for _, chosen := range []struct {
		name string
		to   *[]int
	}{{c.names.ID, &c.id}, {c.names.Class, &c.class}, {c.names.Site, &c.site}, {c.names.Group, &c.group}} {
		if i := sheet.Column(head, chosen.name); i >= 0 && chosen.name != "" {
			*chosen.to = []int{i}
		} else if chosen.name != "" {
			return fmt.Errorf("there is no column %q; the columns are %q", chosen.name, head)
		}
	}
	use := slices.Concat(classColumns, taxonColumns, siteColumns, groupColumns, eventColumns, splitColumns, timeColumns)
	if c.id == nil && sheet.Column(head, idColumns...) < 0 || c.class == nil && c.site == nil && c.group == nil && sheet.Column(head, use...) < 0 {
		return fmt.Errorf("the columns are %q, want id (or path, filename) and label (or class), site or group among them; --id-column and --class-column name others", head)
	}
	if c.class != nil {
		c.classes = [][]int{c.class}
		return nil
	}
	at := func(name string) int { return sheet.Column(head, name) }
	genus := at("genus")
	if sheet.Column(head, rankColumns...) >= 0 {
		c.rank = at("class")
	}
	for _, name := range slices.Concat(classColumns, taxonColumns) {
		if i := at(name); i >= 0 && i != c.rank && (name != "species" || genus < 0) {
			c.classes = append(c.classes, []int{i})
		}
	}
	if i := at("species"); genus >= 0 && i >= 0 {
		c.classes = append(c.classes, []int{genus, i})
	}
	if c.rank >= 0 {
		c.classes = append(c.classes, []int{c.rank})
	}
	return nil
}

func (c *chooser) add(r sheet.Row) {
	for i, cell := range c.cells {
		cell.add(r.At(i))
	}
	if len(c.classes) < 2 || len(c.rows) == maxValues {
		return
	}
	row := make([]string, len(c.classes))
	for k, class := range c.classes {
		row[k] = join(r, class, " ")
	}
	if key := strings.Join(row, "\x00"); c.rows[key] == "" {
		c.rows[key] = r.Where
	}
}

// join joins cells that are not missing values; "" if the first one is.
func join(r sheet.Row, columns []int, by string) string {
	var parts []string
	for i, column := range columns {
		text := strings.TrimSpace(Unguard(strings.TrimSpace(r.At(column))))
		if Missing(text) && i == 0 && by == " " {
			return ""
		}
		if !Missing(text) && (i == 0 || by != " " || !strings.HasPrefix(strings.ToLower(text), strings.ToLower(parts[0])+" ")) {
			parts = append(parts, text)
		} else if !Missing(text) { // a species with its genus
			parts = []string{text}
		}
	}
	return strings.Join(parts, by)
}

func (c *chooser) choose() error {
	if c.id == nil {
		c.id = c.chooseID()
	}
	if c.class == nil {
		if err := c.chooseClass(); err != nil {
			return err
		}
	}
	if c.site == nil {
		c.site = c.first(siteColumns, func(x *column) bool { return x.filled > 0 })
	}
	if c.group == nil {
		c.group = c.first(groupColumns, func(x *column) bool { return true })
	}
	if c.group == nil { // not one value for all, nor the number of a frame in its burst
		c.group = c.first(eventColumns, func(x *column) bool {
			frame := x.numbers == x.filled && len(x.values) <= 10 && x.filled >= 2*len(x.values) && 3*x.runs > 2*x.filled
			return x.filled > 0 && len(x.values) > min(1, x.filled-1) && !frame
		})
	}
	c.numbered = c.group != nil && sheet.Column([]string{c.head[c.group[0]]}, eventColumns...) == 0
	c.place = c.first(placeColumns, func(x *column) bool { return x.filled > 0 && !x.mostly(x.paths) && !slices.Contains(c.group, x.index) })
	c.split = c.first(splitColumns, func(x *column) bool {
		splits, _ := x.splits()
		return splits > 0
	})
	for _, x := range c.cells { // of another name, such as set, if there is nothing but splits in it
		splits, kinds := x.splits()
		if c.split == nil && kinds > 1 && splits == len(x.values) && !slices.Contains(slices.Concat(c.id, c.class, c.site, c.group), x.index) {
			c.split = []int{x.index}
		}
	}
	if c.id == nil {
		return fmt.Errorf("no column but %s may name images: --id-column chooses one", c.called(c.class))
	}
	return nil
}

// first returns the first of the named columns that fits, which is no ID or class.
func (c *chooser) first(names []string, fits func(x *column) bool) []int {
	for _, name := range names {
		if i := sheet.Column(c.head, name); i >= 0 && !slices.Contains(c.id, i) && !slices.Contains(c.class, i) && fits(c.cells[i]) {
			return []int{i}
		}
	}
	return nil
}

// chooseID chooses names of files before other texts, and those before numbers; of several names
// of files, the ones with folders. Beside numbers, names of files count in a column of any name. The
// folder of a name without one may be in another column.
func (c *chooser) chooseID() []int {
	var best *column
	worth := func(x *column) int {
		switch {
		case x.filled > 0 && x.mostly(x.files) && x.mostly(x.paths):
			return 4
		case x.filled > 0 && x.mostly(x.files):
			return 3
		case x.filled > 0 && x.numbers < x.filled:
			return 2
		}
		return 1
	}
	for _, name := range idColumns {
		if i := sheet.Column(c.head, name); i >= 0 && !slices.Contains(c.class, i) && (best == nil || worth(c.cells[i]) > worth(best)) {
			best = c.cells[i]
		}
	}
	if best == nil {
		return nil
	}
	for _, x := range c.cells {
		if worth(best) == 1 && worth(x) > 2 && !slices.Contains(c.class, x.index) {
			best = x
		}
	}
	// folder returns a column of folders.
	folder := func(names []string, not []int, least int) []int {
		for _, name := range names {
			if i := sheet.Column(c.head, name); i >= 0 && !slices.Contains(not, i) && len(c.cells[i].values) >= least && c.cells[i].files == 0 {
				return []int{i}
			}
		}
		return nil
	}
	id := []int{best.index}
	if worth(best) == 3 {
		inner := folder(folderColumns, id, 1)
		id = append(folder(rootColumns, append(inner, id...), 2), append(inner, id...)...)
	}
	return id
}

// chooseClass chooses the first candidate that is filled in: not with the same text in all rows, nor
// numbers, nor in less than half as many rows, where another one is better. Two columns of the same
// classes that differ are an error.
func (c *chooser) chooseClass() error {
	type summary struct {
		filled, numbers int
		values          map[string]bool
	}
	list := make([]summary, len(c.classes))
	var values, words, filled int // the most of a candidate
	for k, class := range c.classes {
		x := c.cells[class[0]]
		s := summary{filled: x.filled, numbers: x.numbers, values: x.values}
		if len(class) > 1 && len(c.rows) < maxValues {
			s.values = make(map[string]bool)
			for row := range c.rows {
				s.values[strings.Split(row, "\x00")[k]] = true
			}
			delete(s.values, "")
		}
		if list[k] = s; class[0] == c.rank {
			continue
		}
		values, filled, words = max(values, len(s.values)), max(filled, s.filled), max(words, s.filled-s.numbers)
	}
	if i := sheet.Column(c.head, "class"); i >= 0 && c.rank < 0 && len(list) > 1 && c.cells[i].only(rankClasses) {
		c.rank = i
	}
	order := make([]int, len(list))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { // the rank last
		return cmp.Compare(slices.Index(c.classes[a], c.rank), slices.Index(c.classes[b], c.rank))
	})
	chosen := -1
	for _, k := range order {
		s := list[k]
		own := sheet.Column(c.head, classColumns...) == c.classes[k][0]
		if s.filled > 0 && (len(s.values) > 1 || values < 2) && (s.numbers < s.filled || words == 0) && (own || 2*s.filled >= filled) {
			chosen = k
			break
		}
	}
	if chosen < 0 {
		if len(order) == 0 {
			return nil
		}
		chosen = order[0] // as it is
	}
	c.class = c.classes[chosen]
	for k, s := range list {
		if k == chosen || c.classes[k][0] == c.rank || len(s.values) < 2 {
			continue
		}
		differ, first := 0, ""
		for row, where := range c.rows {
			cells := strings.Split(row, "\x00")
			a, b := cells[chosen], cells[k]
			if a != "" && b != "" && !strings.EqualFold(a, b) && list[chosen].values[b] && s.values[a] {
				if text := fmt.Sprintf("%q and %q at %s", a, b, where); differ == 0 || text < first {
					first = text
				}
				differ++
			}
		}
		if differ > 0 {
			return fmt.Errorf("columns %s and %s name the same classes and differ, such as %s: choose one with --class-column", c.called(c.class), c.called(c.classes[k]), first)
		}
	}
	return nil
}
