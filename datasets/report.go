package datasets

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Count is a number of examples in each split.
type Count struct {
	Train int `json:"train"`
	Val   int `json:"val"`
	Test  int `json:"test,omitempty"`
}

// countCells counts the examples of known class of every [domain][class].
func countCells(d *Dataset, t Truth) [][]Count {
	counts := make([][]Count, len(d.Domains))
	for k := range counts {
		counts[k] = make([]Count, len(d.Classes))
	}
	for i, e := range d.Examples {
		if !t.Knows(i) {
			continue
		}
		cell := &counts[e.Domain][t.Class(i)]
		switch e.Split {
		case Train:
			cell.Train++
		case Val:
			cell.Val++
		default:
			cell.Test++
		}
	}
	return counts
}

// String formats the report: a table of "train+val" or "train+val+test" with a line per class and a column per
// domain, then findings, if any.
func (r *Report) String() string {
	var b strings.Builder
	word := wordOf(r.Name)
	perDomain := make([]Count, len(r.Domains))
	var all Count
	for k, classes := range r.Counts {
		for _, c := range classes {
			perDomain[k].add(c)
			all.add(c)
		}
	}
	known, unlabelled := all.total(), r.unlabelled()
	parts := fmt.Sprintf("%d train, %d val", all.Train, all.Val)
	if all.Test > 0 {
		parts += fmt.Sprintf(", %d test", all.Test)
	}
	if unlabelled > 0 {
		parts = fmt.Sprintf("%d labelled: %s; %d unlabelled", known, parts, unlabelled)
	}
	images := plural(known+unlabelled, "image")
	cell := func(text string, _ func(g *GroupReport) int) string { return text }
	if g := r.Groups; g != nil {
		images += " (" + plural(g.All, "group") + ")"
		cell = func(text string, of func(g *GroupReport) int) string {
			if n := of(g); n > 0 {
				return fmt.Sprintf("%s (%d)", text, n)
			}
			return text
		}
	}
	fmt.Fprintf(&b, "%s: %s in %s of %s (%s)\n\n", r.Name, images,
		plural(len(r.Domains), word), plural(len(r.Classes), "class"), parts)
	rows := [][]string{append(append([]string{""}, r.Domains...), "all")}
	for c, class := range r.Classes {
		row := []string{class}
		var sum Count
		for k := range r.Domains {
			row = append(row, cell(r.Counts[k][c].String(), func(g *GroupReport) int { return g.Counts[k][c] }))
			sum.add(r.Counts[k][c])
		}
		rows = append(rows, append(row, cell(strconv.Itoa(sum.total()), func(g *GroupReport) int { return g.Classes[c] })))
	}
	total := []string{"all"}
	for k, c := range perDomain {
		text := c.String()
		if unlabelled == 0 {
			text = cell(text, func(g *GroupReport) int { return g.Domains[k] })
		}
		total = append(total, text)
	}
	if unlabelled > 0 {
		total[0] = "labelled"
	}
	rows = append(rows, append(total, strconv.Itoa(known)))
	if unlabelled > 0 {
		row := []string{"unlabelled"}
		for k, n := range r.Unlabelled {
			row = append(row, cell(strconv.Itoa(n), func(g *GroupReport) int { return g.Unlabelled[k] }))
		}
		rows = append(rows, append(row, strconv.Itoa(unlabelled)))
	}
	if known == 0 { // a column of dashes for each class says nothing
		rows = [][]string{{"", "unlabelled"}}
		for k, name := range r.Domains {
			rows = append(rows, []string{name, cell(strconv.Itoa(r.Unlabelled[k]), func(g *GroupReport) int { return g.Unlabelled[k] })})
		}
		if len(r.Domains) > 1 {
			rows = append(rows, []string{"all", strconv.Itoa(unlabelled)})
		}
	} else if len(r.Domains) == 1 { // the totals are its own
		for i := range rows {
			rows[i] = rows[i][:2]
		}
	}
	writeAligned(&b, rows)
	r.Groups.write(&b, word)
	if unlabelled > 0 {
		b.WriteString(r.unvalidated(perDomain, word))
	}

	if r.Dim > 0 {
		writeFiles(&b, r.Unreadable, "vector that cannot be trained on", "vectors that cannot be trained on")
	} else {
		writeFiles(&b, r.Unreadable, "image that cannot be decoded", "images that cannot be decoded")
	}
	if r.Rotated > 0 {
		what := verb(r.Rotated, "is", "are") + " turned upright"
		if r.Decoding == rgb.Stored.Word() {
			what = verb(r.Rotated, "is taken as it is stored", "are taken as they are stored")
		}
		fmt.Fprintf(&b, "\n%s with an EXIF orientation %s.\n", plural(r.Rotated, "photo"), what)
	}
	for _, line := range pictureLines(r.Pictures, 0) {
		b.WriteString("\n" + line + ".\n")
	}
	writeFiles(&b, r.Skipped, "file skipped", "files skipped")
	crossing, within := r.identicalLines()
	writeList(&b, crossing, "group of byte-identical images across "+word+"s", "groups of byte-identical images across "+word+"s")
	writeList(&b, within, "group of byte-identical images within a "+word, "groups of byte-identical images within a "+word)
	var missing []string
	for _, m := range r.Missing {
		missing = append(missing, m.Domain+" has no "+m.Class)
	}
	writeList(&b, missing, "class missing in a "+word, "classes missing in a "+word)
	writeFiles(&b, r.Overruled, "image whose label is not its folder's", "images whose label is not their folder's")
	writeList(&b, r.Differences, "difference from the published data set", "differences from the published data set")
	if !r.found() {
		if r.Dim > 0 {
			fmt.Fprintf(&b, "\nEvery vector can be read, of %d features each; nothing else to report. Their images were not looked at.\n", r.Dim)
		} else {
			b.WriteString("\nEvery image can be decoded; nothing else to report.\n")
		}
	}
	return b.String()
}

// unvalidated says which domains with labels have no validation images, and why.
func (r *Report) unvalidated(perDomain []Count, word string) string {
	var without []string
	for k, c := range perDomain {
		if c.Train > 0 && c.Val == 0 {
			without = append(without, r.Domains[k])
		}
	}
	if len(without) == 0 {
		return ""
	}
	if r.Groups != nil {
		return fmt.Sprintf("\nNo validation images in %s: a class needs five groups of equal size, all of whose images\nare labelled, before one of them is held out for validation.\n", strings.Join(without, ", "))
	}
	return fmt.Sprintf("\nNo validation images in %s: a class needs %d labelled images in a %s before one of\nthem is held out for validation.\n", strings.Join(without, ", "), fewLabels, word)
}

// write describes the numbers and findings; nothing for nil.
func (g *GroupReport) write(b *strings.Builder, word string) {
	if g == nil {
		return
	}
	b.WriteString("\nIn brackets: groups. No split divides one.")
	if g.Ungrouped > 0 {
		fmt.Fprintf(b, " Without a group, and each one of its own: %s.", plural(g.Ungrouped, "image"))
	}
	b.WriteString("\n")
	var mixed []string
	for _, m := range g.Mixed {
		mixed = append(mixed, m.String())
	}
	writeList(b, mixed, "group of several classes: wrong labels, or more than belongs together", "groups of several classes: wrong labels, or more than belongs together")
	crossing := slices.Clone(g.Crossing)
	for i, name := range crossing {
		crossing[i] = printable(name)
	}
	writeList(b, crossing, "group in several "+word+"s: none of these can be the target", "groups in several "+word+"s: none of these can be the target")
}

// WriteTo writes String to w.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, r.String())
	return int64(n), err
}

// found reports whether there is anything to say beyond the table.
func (r *Report) found() bool {
	return len(pictureLines(r.Pictures, 0))+r.Rotated+len(r.Unreadable)+len(r.Skipped)+len(r.Identical)+len(r.Missing)+len(r.Differences)+len(r.Overruled) > 0 || r.Groups != nil && len(r.Groups.Mixed)+len(r.Groups.Crossing) > 0
}

func (r *Report) unlabelled() int {
	n := 0
	for _, k := range r.Unlabelled {
		n += k
	}
	return n
}

// identicalLines are the groups across domains and those within one.
func (r *Report) identicalLines() (crossing, within []string) {
	for _, g := range r.Identical {
		var ids []string
		for _, id := range g.IDs {
			ids = append(ids, printable(id))
		}
		line := strings.Join(ids, " = ")
		if g.CrossClass {
			line += " (of different classes)"
		}
		if g.CrossDomain {
			crossing = append(crossing, line)
		} else {
			within = append(within, line)
		}
	}
	return crossing, within
}

func (c *Count) add(o Count) { c.Train += o.Train; c.Val += o.Val; c.Test += o.Test }

func (c Count) total() int { return c.Train + c.Val + c.Test }

// String returns "train+val", "train+val+test" with test images, or "-" for none.
func (c Count) String() string {
	if c == (Count{}) {
		return "-"
	}
	if c.Test > 0 {
		return fmt.Sprintf("%d+%d+%d", c.Train, c.Val, c.Test)
	}
	return fmt.Sprintf("%d+%d", c.Train, c.Val)
}

func plural(n int, noun string) string { return english.Plural(n, noun, "") }

// verb returns the word that goes with a number: "is" or "are".
func verb(n int, one, many string) string { return english.PluralWord(n, one, many) }

// writeAligned writes rows with the first column to the left and the others to
// the right.
func writeAligned(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, s := range row {
			widths[i] = max(widths[i], len([]rune(s)))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(b, "%-*s", widths[0], row[0])
		for i, s := range row[1:] {
			fmt.Fprintf(b, "  %*s", widths[i+1], s)
		}
		b.WriteString("\n")
	}
}

func writeFiles(b *strings.Builder, files []Skipped, one, many string) {
	var lines []string
	for _, f := range files {
		lines = append(lines, printable(f.ID)+": "+f.Reason)
	}
	writeList(b, lines, one, many)
}

// printable quotes a name that would not stay on its line.
func printable(name string) string {
	if strings.ContainsFunc(name, unprintable) {
		return strconv.Quote(name)
	}
	return name
}

// writeList writes a heading with the number of lines, and the lines.
func writeList(b *strings.Builder, lines []string, one, many string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n%d %s:\n", len(lines), verb(len(lines), one, many))
	}
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
}
