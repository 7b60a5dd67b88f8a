package arrays

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

func (f *File) readParquet() (err error) {
	defer Recovered(&err)
	p, err := OpenParquet(f.file, f.size)
	if err != nil {
		return fmt.Errorf("is not a complete .parquet file: %w", err)
	}
	f.parquet = p
	for _, c := range p.Root().Columns() {
		f.names = append(f.names, c.Name())
	}
	return nil
}

// OpenParquet opens a Parquet file of the given size without reading its pages. The library
// believes the counts of a file, so a damaged one may take some GB of memory before it is an error.
func OpenParquet(r io.ReaderAt, size int64) (p *parquet.File, err error) {
	defer Recovered(&err)
	return parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// Recovered converts a panic of the Parquet library, which damaged files can cause, to an error.
// Call it deferred.
func Recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the file is damaged, or no Parquet file that is read here: %v", r)
	}
}

// fromParquet finds the array's column and its shape, for which the first row is read.
func (a *Array) fromParquet(p *parquet.File) (err error) {
	defer Recovered(&err)
	c := p.Root().Column(a.name)
	for !c.Leaf() {
		if inner := c.Columns(); len(inner) == 1 {
			c = inner[0]
			continue
		}
		return fmt.Errorf("is a column of records, want numbers, text, or lists of numbers")
	}
	t := c.Type()
	switch {
	case t.Kind() == parquet.Float:
		a.dtype = Float32
	case t.Kind() == parquet.Double:
		a.dtype = Float64
	case t.Kind() == parquet.FixedLenByteArray && isHalf(p, c.Index()):
		a.dtype = Float16
	case t.Kind() == parquet.Int32:
		a.dtype = Int32
	case t.Kind() == parquet.Int64:
		a.dtype = Int64
	case t.Kind() == parquet.ByteArray:
		a.dtype = Lines
	default:
		return fmt.Errorf("type %s, want text, %s", t, supported)
	}
	rows := p.NumRows()
	if rows < 0 || rows > math.MaxInt32 {
		return fmt.Errorf("%d rows", rows)
	}
	depth := c.MaxRepetitionLevel()
	if depth > 2 || depth > 0 && a.dtype == Lines {
		return fmt.Errorf("lists in lists of depth %d, want lists of numbers, or lists of those", depth)
	}
	a.shape = append([]int{int(rows)}, make([]int, depth)...)
	if depth > 0 && rows > 0 {
		first := a.column(p, c)
		first.learn = true
		if _, err := io.ReadAll(first); err != nil {
			return err
		}
		copy(a.shape[1:], first.shape[1:])
	}
	if n, err := byteSize(a.dtype, a.shape); err != nil || n > maxInflated+maxRatio*p.Size() {
		return fmt.Errorf("shape %v is too large for a file of %d bytes", a.shape, p.Size())
	}
	a.open = func() (io.ReadCloser, error) { return a.column(p, c), nil }
	return nil
}

// isHalf reports whether a leaf of the schema is of float16, which the library's types
// do not tell.
func isHalf(p *parquet.File, leaf int) bool {
	for _, e := range p.Metadata().Schema {
		if !e.Type.Valid {
			continue
		}
		if leaf == 0 {
			_, half := e.LogicalType.Value.(*format.Float16Type)
			return half
		}
		leaf--
	}
	return false
}

// column reads a Parquet column as the bytes of an array.
type column struct {
	groups []parquet.RowGroup
	index  int
	dtype  Type
	shape  []int
	// learn finds the shape by the first row, at whose end the reading ends.
	learn bool

	pages  parquet.Pages
	values parquet.ValueReader
	buffer []parquet.Value
	// row is the row that is read, and at the places in its lists.
	row  int
	at   [2]int
	left []byte
	done bool
	room int64 // bytes that may still come
}

func (a *Array) column(p *parquet.File, c *parquet.Column) *column {
	return &column{groups: p.RowGroups(), index: c.Index(), dtype: a.dtype, shape: append([]int{}, a.shape...),
		buffer: make([]parquet.Value, 4096), row: -1, room: maxInflated + maxRatio*p.Size()}
}

func (c *column) Close() error {
	if c.pages == nil {
		return nil
	}
	return c.pages.Close()
}

func (c *column) Read(b []byte) (n int, err error) {
	defer Recovered(&err)
	for len(c.left) == 0 {
		if c.done {
			return 0, io.EOF
		}
		if err := c.more(); err != nil {
			return 0, err
		}
	}
	n = copy(b, c.left)
	c.left = c.left[n:]
	return n, nil
}

// more encodes some values.
func (c *column) more() error {
	if c.values == nil {
		if c.pages == nil {
			if len(c.groups) == 0 {
				c.done = true
				return c.endRow()
			}
			c.pages, c.groups = c.groups[0].ColumnChunks()[c.index].Pages(), c.groups[1:]
		}
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			err = c.pages.Close()
			c.pages = nil
			return err
		}
		if err != nil {
			return err
		}
		c.values = page.Values()
	}
	n, err := c.values.ReadValues(c.buffer)
	c.left = c.left[:0]
	before := 0
	for _, v := range c.buffer[:n] {
		if err := c.add(v); err != nil {
			return err
		}
		if c.room -= int64(len(c.left) - before); c.room < 0 {
			return errors.New("it inflates to too much for the bytes of its file")
		}
		before = len(c.left)
		if c.done {
			return nil
		}
	}
	if errors.Is(err, io.EOF) {
		c.values, err = nil, nil
	}
	return err
}

func (c *column) add(v parquet.Value) error {
	depth := len(c.shape) - 1
	switch level := v.RepetitionLevel(); {
	case level == 0:
		if err := c.endRow(); err != nil || c.done {
			return err
		}
		c.row++
		c.at = [2]int{}
		if depth > 0 {
			c.at[depth-1] = 1
		}
	case level == depth: // the next number of a list
		c.at[depth-1]++
	default: // the next list of a list
		if err := c.endList(); err != nil {
			return err
		}
		c.at[0]++
		c.at[1] = 1
	}
	if v.IsNull() && c.dtype == Lines {
		c.left = append(c.left, "\"\"\n"...)
		return nil
	}
	if v.IsNull() {
		return fmt.Errorf("row %d is empty, or has a null", c.row)
	}
	switch c.dtype {
	case Float32:
		c.left = binary.LittleEndian.AppendUint32(c.left, math.Float32bits(v.Float()))
	case Float64:
		c.left = binary.LittleEndian.AppendUint64(c.left, math.Float64bits(v.Double()))
	case Float16:
		c.left = append(c.left, v.ByteArray()...)
	case Int32:
		c.left = binary.LittleEndian.AppendUint32(c.left, uint32(v.Int32()))
	case Int64:
		c.left = binary.LittleEndian.AppendUint64(c.left, uint64(v.Int64()))
	case Lines:
		line, err := json.Marshal(string(v.ByteArray()))
		if err != nil {
			return err
		}
		c.left = append(append(c.left, line...), '\n')
	}
	return nil
}

// endList checks the length of an inner list.
func (c *column) endList() error {
	if len(c.shape) < 3 {
		return nil
	}
	if c.learn && c.shape[2] == 0 {
		c.shape[2] = c.at[1]
	}
	if c.at[1] != c.shape[2] {
		return fmt.Errorf("row %d, list %d has %d numbers, want %d as before", c.row, c.at[0], c.at[1], c.shape[2])
	}
	return nil
}

// endRow checks the lists of the row that ends, if there is one.
func (c *column) endRow() error {
	if c.row < 0 || len(c.shape) < 2 {
		return nil
	}
	if err := c.endList(); err != nil {
		return err
	}
	length, what := c.at[0], "numbers"
	if len(c.shape) == 3 {
		length, what = c.at[0]+1, "lists"
	}
	if c.learn {
		c.shape[1], c.done = length, true
		return nil
	}
	if length != c.shape[1] {
		return fmt.Errorf("row %d has %d %s, want %d as row 0", c.row, length, what, c.shape[1])
	}
	return nil
}
