package result

import (
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is a table of text cells that can be printed in five formats. Its methods String and HTML are how
// programs and notebooks show it.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
	// Notes are sentences below the table, such as the model selection rule, warnings, and
	// sources of numbers.
	Notes []string
}

// Column is a column's header and alignment.
type Column struct {
	Name string
	// Right aligns the column right, for numbers.
	Right bool
}

// Cell is a cell of a Table.
type Cell struct {
	Text string
	// Bold marks the best of a column, in Markdown and LaTeX only.
	Bold bool
}

// AddRow appends a row of plain cells.
func (t *Table) AddRow(texts ...string) {
	row := make([]Cell, len(texts))
	for i, s := range texts {
		row[i].Text = s
	}
	t.Rows = append(t.Rows, row)
}

// Column is the place of the column with a name; -1 if there is none.
func (t *Table) Column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Pick returns the table with some of its columns.
func (t *Table) Pick(keep func(column int) bool) *Table {
	some := &Table{Title: t.Title, Notes: t.Notes, Rows: make([][]Cell, len(t.Rows))}
	for i, c := range t.Columns {
		if !keep(i) {
			continue
		}
		some.Columns = append(some.Columns, c)
		for k, row := range t.Rows {
			some.Rows[k] = append(some.Rows[k], row[i])
		}
	}
	return some
}

// TableFormat is an output format of a Table.
type TableFormat uint8

const (
	// Text aligns columns with spaces, for terminals.
	Text TableFormat = iota
	// Markdown is GitHub's Markdown.
	Markdown
	// CSV is RFC 4180 without title and notes.
	CSV
	// LaTeX is a tabular with rules of the booktabs package.
	LaTeX
	// HTML is a table element between a heading and paragraphs of notes. Cells of numbers have the class n.
	HTML
)

var tableFormats = []string{Text: "text", Markdown: "markdown", CSV: "csv", LaTeX: "latex", HTML: "html"}

// String returns the format's name in lower case.
func (f TableFormat) String() string {
	if int(f) < len(tableFormats) {
		return tableFormats[f]
	}
	return fmt.Sprintf("TableFormat(%d)", uint8(f))
}

// ParseTableFormat returns the format with the given name.
func ParseTableFormat(name string) (TableFormat, error) {
	for f, n := range tableFormats {
		if n == name {
			return TableFormat(f), nil
		}
	}
	return 0, fmt.Errorf("unknown table format %q, want %s", name, strings.Join(tableFormats, ", "))
}

// Write prints the table to w. A row with another number of cells than columns is an error, and
// nothing is written.
func (t *Table) Write(w io.Writer, format TableFormat) error {
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("table %q: row %d has %d cells, want %d", t.Title, i, len(row), len(t.Columns))
		}
	}
	var b strings.Builder
	switch format {
	case Text:
		t.text(&b)
	case Markdown:
		t.markdown(&b)
	case CSV:
		if err := t.csv(&b); err != nil {
			return err
		}
	case LaTeX:
		t.latex(&b)
	case HTML:
		if err := htmlTable.Execute(&b, t); err != nil {
			return err
		}
	default:
		return fmt.Errorf("table %q: unknown format %v", t.Title, format)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the table as text.
func (t *Table) String() string { return t.in(Text) }

// HTML is the table as HTML.
func (t *Table) HTML() template.HTML { return template.HTML(t.in(HTML)) }

func (t *Table) in(format TableFormat) string {
	var b strings.Builder
	if err := t.Write(&b, format); err != nil {
		return err.Error()
	}
	return b.String()
}

var htmlTable = template.Must(template.New("table").Parse(`{{with .Title}}<h3>{{.}}</h3>
{{end}}<div class="wide"><table>
<thead><tr>{{range .Columns}}<th{{if .Right}} class="n"{{end}}>{{.Name}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr>{{range $i, $c := .}}<td{{if (index $.Columns $i).Right}} class="n"{{end}}>{{if .Bold}}<b>{{.Text}}</b>{{else}}{{.Text}}{{end}}</td>{{end}}</tr>
{{end}}</tbody></table></div>
{{range .Notes}}<p class="note">{{.}}</p>{{end}}
`))

// grid returns head and rows with every cell's text passed through show, and the
// width of each column in runes.
func (t *Table) grid(show func(Cell) string) (rows [][]string, widths []int) {
	widths = make([]int, len(t.Columns))
	add := func(cells []Cell) {
		row := make([]string, len(cells))
		for j, c := range cells {
			row[j] = show(c)
			widths[j] = max(widths[j], utf8.RuneCountInString(row[j]))
		}
		rows = append(rows, row)
	}
	head := make([]Cell, len(t.Columns))
	for j, c := range t.Columns {
		head[j].Text = c.Name
	}
	add(head)
	for _, row := range t.Rows {
		add(row)
	}
	return rows, widths
}

func pad(s string, width int, right bool) string {
	space := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		return space + s
	}
	return s + space
}

func (t *Table) text(b *strings.Builder) {
	rows, widths := t.grid(func(c Cell) string { return oneLine(c.Text) })
	if len(t.Columns) == 0 {
		rows = nil
	}
	if t.Title != "" {
		fmt.Fprintln(b, oneLine(t.Title))
	}
	for i, row := range rows {
		var line strings.Builder
		for j, s := range row {
			if j > 0 {
				line.WriteString("  ")
			}
			line.WriteString(pad(s, widths[j], t.Columns[j].Right))
		}
		fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
		if i == 0 {
			for j, w := range widths {
				if j > 0 {
					b.WriteString("  ")
				}
				b.WriteString(strings.Repeat("-", w))
			}
			b.WriteByte('\n')
		}
	}
	for _, n := range t.Notes {
		fmt.Fprintln(b, oneLine(n))
	}
}

func (t *Table) markdown(b *strings.Builder) {
	escape := strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`")
	rows, widths := t.grid(func(c Cell) string {
		s := escape.Replace(oneLine(c.Text))
		if c.Bold && s != "" {
			return "**" + s + "**"
		}
		return s
	})
	if t.Title != "" {
		fmt.Fprintf(b, "**%s**\n\n", escape.Replace(oneLine(t.Title)))
	}
	for i, row := range rows {
		for j, s := range row {
			fmt.Fprintf(b, "| %s ", pad(s, max(3, widths[j]), t.Columns[j].Right))
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for j, c := range t.Columns {
			rule := strings.Repeat("-", max(3, widths[j]))
			if c.Right {
				rule = rule[1:] + ":"
			}
			fmt.Fprintf(b, "| %s ", rule)
		}
		b.WriteString("|\n")
	}
	for i, n := range t.Notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "- %s\n", escape.Replace(oneLine(n)))
	}
}

func (t *Table) csv(b *strings.Builder) error {
	rows, _ := t.grid(func(c Cell) string { return c.Text })
	return csv.NewWriter(b).WriteAll(rows)
}

func (t *Table) latex(b *strings.Builder) {
	escape := strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`,
		"_", `\_`, "%", `\%`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
		// A bracket after the \\ of the row before would be its argument.
		"[", "{[}", "<", `\textless{}`, ">", `\textgreater{}`,
		"±", `$\pm$`, "−", "$-$", "γ", `$\gamma$`, "δ", `$\delta$`, "τ", `$\tau$`)
	rows, _ := t.grid(func(c Cell) string {
		s := escape.Replace(oneLine(c.Text))
		if c.Bold && s != "" {
			return `\textbf{` + s + "}"
		}
		return s
	})
	if t.Title != "" {
		fmt.Fprintf(b, "%% %s\n", oneLine(t.Title))
	}
	b.WriteString(`\begin{tabular}{`)
	for _, c := range t.Columns {
		if c.Right {
			b.WriteByte('r')
		} else {
			b.WriteByte('l')
		}
	}
	b.WriteString("}\n\\toprule\n")
	for i, row := range rows {
		fmt.Fprintf(b, "%s \\\\\n", strings.Join(row, " & "))
		if i == 0 {
			b.WriteString("\\midrule\n")
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	// Notes go below, where they can wrap without widening the table.
	for i, n := range t.Notes {
		skip := ""
		if i == 0 {
			skip = "\\smallskip"
		}
		fmt.Fprintf(b, "{\\par%s\\noindent\\footnotesize\\raggedright %s\\par}\n", skip, escape.Replace(oneLine(n)))
	}
}

// oneLine replaces line breaks, which would break a table, by spaces.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}
