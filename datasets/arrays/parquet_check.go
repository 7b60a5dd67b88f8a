package arrays

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library takes the numbers of a file for what they say: memory for lists, pages and
// runs is allocated before it is known whether the file has as much, and what does not fit
// panics. So every count is compared here with the bytes that are there, before a page is
// decoded. These bound the footer, a page, and the values of a page.
const maxFooter, maxPage, maxPageValues = 16 << 20, 128 << 20, 1 << 25

// OpenParquet opens a Parquet file of the given size with a validated footer. Call [CheckPages]
// before reading its pages.
func OpenParquet(r io.ReaderAt, size int64) (p *parquet.File, err error) {
	defer Recovered(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	return parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// CheckPages validates the pages of a root column. It returns an error for inconsistent numbers,
// and for codecs other than none, Snappy, gzip and Zstandard and unsupported encodings.
// Supported ones are plain, dictionary, byte stream split, and delta encodings of numbers and
// lengths.
func CheckPages(p *parquet.File, column *parquet.Column) (err error) {
	defer Recovered(&err)
	for _, leaf := range leaves(column, nil) {
		c := pages{r: p, leaf: leaf, room: (maxInflated + maxRatio*p.Size()) / 4}
		for _, g := range p.Metadata().RowGroups {
			c.at = &g.Columns[leaf.Index()].MetaData // which panics where there is none
			if err := c.check(p.Size()); err != nil {
				return fmt.Errorf("column %s: %w", leaf.Name(), err)
			}
		}
	}
	return nil
}

// leaves appends the columns that have values, in their order.
func leaves(c *parquet.Column, list []*parquet.Column) []*parquet.Column {
	if c.Leaf() {
		return append(list, c)
	}
	for _, inner := range c.Columns() {
		list = leaves(inner, list)
	}
	return list
}

// Recovered converts a panic of the Parquet library, which damaged files can cause, to an error.
// Call it deferred.
func Recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", errDamagedParquet, r)
	}
}

var errDamagedParquet = errors.New("the file is damaged, or no Parquet file that is read here")

// bounded reads Thrift whose lists are no longer than the bytes that are there.
type bounded struct {
	thriftReader
	size int
}

type thriftReader = thrift.Reader // which has a method Reader

func (b bounded) check(n int32, err error) error {
	if err == nil && (n < 0 || int(n) > b.size-b.BytesRead()) {
		err = errDamagedParquet
	}
	return err
}

func (b bounded) ReadList() (thrift.List, error) {
	l, err := b.thriftReader.ReadList()
	return l, b.check(l.Size, err)
}

func (b bounded) ReadSet() (thrift.Set, error) {
	l, err := b.thriftReader.ReadSet()
	return l, b.check(l.Size, err)
}

func (b bounded) ReadMap() (thrift.Map, error) {
	m, err := b.thriftReader.ReadMap()
	return m, b.check(m.Size, err)
}

// decodeThrift decodes what data begins with, and returns its length.
func decodeThrift(data []byte, v any) (int, error) {
	r := bounded{new(thrift.CompactProtocol).NewReaderFromBytes(data), len(data)}
	err := thrift.NewDecoder(r).Decode(v)
	return r.BytesRead(), err
}

// checkFooter checks that the footer's claims are consistent with the file's size.
func checkFooter(r io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-12 || n > maxFooter {
		return fmt.Errorf("%w: a footer of %d bytes", errDamagedParquet, n)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return err
	}
	var meta format.FileMetaData
	if _, err := decodeThrift(footer, &meta); err != nil {
		return err
	}
	var open []int32 // children that are still to come of the groups around
	for _, e := range meta.Schema {
		if len(open) > 64 || len(meta.Schema) > 1<<16 || e.TypeLength.V < 0 || e.TypeLength.V > 1<<16 {
			return fmt.Errorf("%w: %d columns in groups, %d deep", errDamagedParquet, len(meta.Schema), len(open))
		}
		if e.NumChildren.V > 0 {
			open = append(open, e.NumChildren.V)
			continue
		}
		for len(open) > 0 {
			if open[len(open)-1]--; open[len(open)-1] > 0 {
				break
			}
			open = open[:len(open)-1]
		}
	}
	return nil
}

// pages are the pages of a column in a row group.
type pages struct {
	r    io.ReaderAt
	leaf *parquet.Column
	at   *format.ColumnMetaData
	room int64 // for values that are still to come
}

// check goes through the pages as the library will.
func (p *pages) check(size int64) error {
	at, left := p.at.DataPageOffset, p.at.TotalCompressedSize
	if p.at.DictionaryPageOffset != 0 {
		at = p.at.DictionaryPageOffset
	}
	if at < 0 || left < 0 || at > size || left > size-at {
		return fmt.Errorf("%w: %d bytes from %d on of %d", errDamagedParquet, left, at, size)
	}
	var body []byte
	for left > 0 {
		var h format.PageHeader
		n, err := p.header(at, left, &h)
		if err != nil {
			return err
		}
		at, left = at+int64(n), left-int64(n)
		long := int64(h.CompressedPageSize)
		if long < 0 || long > left || long > maxPage || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage {
			return fmt.Errorf("%w: a page of %d bytes from %d of %d", errDamagedParquet, h.UncompressedPageSize, h.CompressedPageSize, left)
		}
		if int64(cap(body)) < long {
			body = make([]byte, long)
		}
		body = body[:long]
		if _, err := p.r.ReadAt(body, at); err != nil {
			return err
		}
		if err := p.page(&h, body); err != nil {
			return err
		}
		at, left = at+long, left-long
	}
	return nil
}

// header reads a page's header, and returns its length. Statistics may make it long.
func (p *pages) header(at, left int64, h *format.PageHeader) (n int, err error) {
	for window := int64(1 << 12); ; window <<= 4 {
		data := make([]byte, min(window, left))
		if _, err := p.r.ReadAt(data, at); err != nil {
			return 0, err
		}
		*h = format.PageHeader{}
		if n, err = decodeThrift(data, h); err == nil || window >= left || window > maxFooter {
			return n, err
		}
	}
}

// page checks a page: its size, and what its runs say.
func (p *pages) page(h *format.PageHeader, body []byte) (err error) {
	var values int32
	var encoding format.Encoding
	var levels int // bytes of them that are not compressed
	size := int(h.UncompressedPageSize)
	compressed := true
	switch h.Type {
	case format.DictionaryPage:
		values = h.DictionaryPageHeader.V.NumValues
	case format.DataPage:
		v := &h.DataPageHeader.V
		values, encoding = v.NumValues, v.Encoding
		if v.RepetitionLevelEncoding != format.RLE && p.leaf.MaxRepetitionLevel() > 0 || v.DefinitionLevelEncoding != format.RLE && p.leaf.MaxDefinitionLevel() > 0 {
			return fmt.Errorf("levels of the encoding %s, want runs", v.DefinitionLevelEncoding)
		}
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		values, encoding = v.NumValues, v.Encoding
		rep, def := int64(v.RepetitionLevelsByteLength), int64(v.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > int64(len(body)) || rep+def > int64(size) || v.NumNulls < 0 || v.NumNulls > values || v.NumRows > values {
			return errDamagedParquet
		}
		if err := errors.Join(runs(body[:rep], p.leaf.MaxRepetitionLevel(), values), runs(body[rep:rep+def], p.leaf.MaxDefinitionLevel(), values)); err != nil {
			return err
		}
		levels, compressed = int(rep+def), !v.IsCompressed.Valid || v.IsCompressed.V
	}
	if values < 0 || values > maxPageValues {
		return fmt.Errorf("%w: a page of %d values", errDamagedParquet, values)
	}
	if body = body[levels:]; compressed {
		if body, err = inflate(p.at.Codec, body, size-levels); err != nil {
			return err
		}
	}
	switch {
	case h.Type == format.DictionaryPage:
		if int(values) > len(body) {
			return fmt.Errorf("%w: a dictionary of %d values in %d bytes", errDamagedParquet, values, len(body))
		}
		return nil
	case h.Type == format.DataPage:
		for _, most := range []int{p.leaf.MaxRepetitionLevel(), p.leaf.MaxDefinitionLevel()} {
			if most == 0 {
				continue
			}
			if len(body) < 4 || int64(binary.LittleEndian.Uint32(body)) > int64(len(body)-4) {
				return io.ErrUnexpectedEOF
			}
			end := 4 + int(binary.LittleEndian.Uint32(body))
			if err := runs(body[4:end], most, values); err != nil {
				return err
			}
			body = body[end:]
		}
	}
	if p.room -= int64(values); p.room < 0 {
		return fmt.Errorf("%w: too many values for its bytes", errDamagedParquet)
	}
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		return nil
	//lint:ignore SA1019 files of older writers have it
	case format.PlainDictionary, format.RLEDictionary:
		if len(body) == 0 {
			return nil
		}
		return runs(body[1:], 1<<min(body[0], 32)-1, values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return deltas(body, values)
	}
	return fmt.Errorf("a page of the encoding %s, want plain, with a dictionary, or with the differences of numbers", encoding)
}

// runs checks that runs of numbers up to most have at most the given number of values.
func runs(data []byte, most int, values int32) error {
	room := uint64(values) + 8 // packed ones fill up their byte
	width := uint64(bits.Len(uint(most)))
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return io.ErrUnexpectedEOF
		}
		count, bytes := head>>1, (width+7)/8
		if head&1 != 0 {
			bytes = count * width
			count *= 8
		}
		if head>>1 > room || count > room {
			return fmt.Errorf("%w: a run of %d values in a page of %d", errDamagedParquet, count, values)
		}
		room -= count
		data = data[min(uint64(len(data)), uint64(n)+bytes):]
	}
	return nil
}

// deltas checks that the header of delta encoding announces at most the given number of values.
func deltas(data []byte, values int32) error {
	var head [3]uint64 // block size, parts of a block, values
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return io.ErrUnexpectedEOF
		}
		head[i], data = v, data[n:]
	}
	if head[2] > uint64(values) {
		return fmt.Errorf("%w: %d differences in a page of %d values", errDamagedParquet, head[2], values)
	}
	return nil
}

// zstandard decompresses up to maxPage bytes.
var zstandard = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
})

// inflate decompresses a page with a declared size of at most size bytes.
func inflate(codec format.CompressionCodec, data []byte, size int) (out []byte, err error) {
	switch codec {
	case format.Uncompressed:
		return data, nil
	case format.Snappy:
		if n, e := snappy.DecodedLen(data); e != nil || n > size {
			return nil, fmt.Errorf("%w: a page inflates to %d bytes, more than %d", errDamagedParquet, n, size)
		}
		out, err = snappy.Decode(nil, data)
	case format.Gzip:
		r, e := gzip.NewReader(bytes.NewReader(data))
		if e != nil {
			return nil, e
		}
		out, err = io.ReadAll(io.LimitReader(r, int64(size)+1))
	case format.Zstd:
		d, e := zstandard()
		if e != nil {
			return nil, e
		}
		out, err = d.DecodeAll(data, nil)
	default:
		return nil, fmt.Errorf("pages are compressed by %s, want Snappy, gzip, Zstandard, or none", codec)
	}
	if err == nil && len(out) > size {
		err = fmt.Errorf("%w: a page inflates to %d bytes, more than %d", errDamagedParquet, len(out), size)
	}
	return out, err
}
