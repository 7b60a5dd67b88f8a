// Package sheet reads CSV files as spreadsheets write them.
//
// The separator is a comma, semicolon or tab, the most frequent one in the header, or the one of a
// "sep=" line. Text is UTF-8, UTF-16, or else Windows-1252. Lines may end as on Unix, Windows or old Macs.
package sheet

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Row is a row below the header.
type Row struct {
	// Where is its position, such as "labels.csv:7".
	Where string
	// Err is the error of the row, such as missing cells; nil for nothing.
	Err   error
	head  []string
	cells []string
}

// Head returns the names of the columns as they are in the file, without surrounding space.
func (r Row) Head() []string { return r.head }

// Cell returns the cell of the first of the named columns that the file has, without surrounding
// space; "" if it has none. Names are as in [Column].
func (r Row) Cell(names ...string) string { return strings.TrimSpace(r.Raw(names...)) }

// Raw is as Cell, with surrounding space.
func (r Row) Raw(names ...string) string {
	if i := Column(r.head, names...); i >= 0 {
		return r.At(i)
	}
	return ""
}

// At returns the cell of column i, counted from 0; "" if the row is shorter.
func (r Row) At(i int) string {
	if i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

// Column returns the index of the first of the names that a header has, or -1. Upper and lower
// case, spaces, dashes and underscores do not matter.
func Column(head []string, names ...string) int {
	for _, name := range names {
		if i := slices.IndexFunc(head, func(h string) bool { return strings.EqualFold(plainName.Replace(h), plainName.Replace(name)) }); i >= 0 {
			return i
		}
	}
	return -1
}

var plainName = strings.NewReplacer(" ", "", "_", "", "-", "")

// Read calls head with the header of a CSV file and row with each row. Rows without content
// are passed over. Files have up to most bytes, and lines up to maxLine; an error names file and line.
func Read(path string, most int64, maxLine int, head func(names []string) error, row func(Row) error) error {
	file, err := regular.Open(path, most)
	if err != nil {
		return err
	}
	defer file.Close()
	r, comma, skipped := plain(file, maxLine)
	begin, _ := r.Peek(64)
	if begin, _, _ = bytes.Cut(begin, []byte("\n")); bytes.IndexByte(begin, 0) >= 0 || bytes.HasPrefix(bytes.TrimSpace(begin), []byte(`{"`)) || bytes.HasPrefix(bytes.TrimSpace(begin), []byte(`[{`)) {
		return fmt.Errorf("%s: it is no table but JSON or a file of another program: save it as CSV (UTF-8)", path)
	}
	c := csv.NewReader(r)
	c.Comma, c.FieldsPerRecord, c.TrimLeadingSpace = comma, -1, comma != '\t'
	names, err := c.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:1: it is empty, want a line that names the columns", path)
	}
	if err == nil {
		decode(names)
		for i, name := range names {
			names[i] = strings.TrimSpace(name)
		}
		if err := head(names); err != nil {
			line, _ := c.FieldPos(0)
			return fmt.Errorf("%s:%d: %w", path, line+skipped, err)
		}
	}
	for err == nil {
		var cells []string
		if cells, err = c.Read(); err != nil {
			break
		}
		line, _ := c.FieldPos(0)
		x := Row{Where: fmt.Sprintf("%s:%d", path, line+skipped), head: names, cells: cells}
		decode(cells)
		switch filled := len(cells) - trailing(cells); {
		case filled == 0:
			continue
		case len(cells) < len(names):
			x.Err = fmt.Errorf("it has %d fields, want %d", len(cells), len(names))
		case filled > len(names):
			x.Err = fmt.Errorf("it has %d fields, want %d; a cell with the separator in it needs quotes around it; R leaves out the name of row names: row.names = FALSE", filled, len(names))
		}
		if err := row(x); err != nil {
			return err
		}
	}
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &parse):
		return fmt.Errorf("%s:%d: %w", path, parse.Line+skipped, parse.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// plain returns a file's text as UTF-8 with Unix line ends, its separator, and how many lines in
// front of the header were passed over.
func plain(file io.Reader, maxLine int) (r *bufio.Reader, comma rune, skipped int) {
	const head = 1 << 16
	raw, text := bufio.NewReader(file), encoding.Nop
	if b, _ := raw.Peek(4); len(b) == 4 && b[0] != 0 && b[1] == 0 && b[3] == 0 {
		text = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	} else if len(b) == 4 && b[0] == 0 && b[1] != 0 && b[2] == 0 {
		text = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	r = bufio.NewReaderSize(transform.NewReader(raw, unicode.BOMOverride(text.NewDecoder())), head)
	first, _ := r.Peek(head)
	if end := bytes.IndexAny(first, "\r\n"); end >= 0 && first[end] == '\r' && !bytes.HasPrefix(first[end:], []byte("\r\n")) {
		r = bufio.NewReaderSize(oldMac{r}, head)
		first, _ = r.Peek(head)
	}
	r = bufio.NewReaderSize(regular.Lines(r, maxLine), head)
	line, _, _ := bytes.Cut(first, []byte("\n"))
	if separator, ok := bytes.CutPrefix(bytes.Trim(line, "\r\""), []byte("sep=")); ok && len(separator) == 1 && separator[0] < utf8.RuneSelf && separator[0] != '"' {
		_, _ = r.ReadSlice('\n')
		return r, rune(separator[0]), 1
	}
	comma = ','
	count := func(separator rune) (n int) { // outside of quotes
		quoted := false
		for _, c := range string(line) {
			if quoted = quoted != (c == '"'); c == separator && !quoted {
				n++
			}
		}
		return n
	}
	for _, other := range "\t;" { // the most frequent one
		if count(other) > count(comma) {
			comma = other
		}
	}
	return r, comma, 0
}

// oldMac reads lines that end in a carriage return as lines that end in a newline.
type oldMac struct{ r io.Reader }

func (m oldMac) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// decode reads cells that are no UTF-8 as Windows-1252.
func decode(cells []string) {
	for i, cell := range cells {
		if !utf8.ValidString(cell) {
			cells[i], _ = charmap.Windows1252.NewDecoder().String(cell)
		}
	}
}

// trailing returns how many empty cells a row ends in.
func trailing(cells []string) (n int) {
	for n < len(cells) && strings.TrimSpace(cells[len(cells)-1-n]) == "" {
		n++
	}
	return n
}
