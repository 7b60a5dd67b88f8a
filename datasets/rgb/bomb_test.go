package rgb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"
)

// manyScans is a progressive JPEG of side x side pixels with many scans; each has few bytes that
// represent all blocks.
func manyScans(side, scans int) []byte {
	var b bytes.Buffer
	segment := func(marker byte, body ...byte) {
		b.Write([]byte{0xff, marker})
		b.Write(binary.BigEndian.AppendUint16(nil, uint16(len(body)+2)))
		b.Write(body)
	}
	table := func(class, symbol byte) []byte { // one code, of one bit
		return append(append([]byte{class, 1}, make([]byte, 15)...), symbol)
	}
	b.Write([]byte{0xff, 0xd8})
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc2, 8, byte(side>>8), byte(side), byte(side>>8), byte(side), 1, 1, 0x11, 0)
	segment(0xc4, append(table(0x00, 0), table(0x10, 0xe0)...)...) // no difference; 2^14 blocks and more without a number
	blocks := (side + 7) / 8 * ((side + 7) / 8)
	segment(0xda, 1, 1, 0, 0, 0, 0)
	b.Write(make([]byte, blocks/8+1))
	for range scans {
		segment(0xda, 1, 1, 0, 1, 63, 0)
		b.Write(make([]byte, blocks>>14*15/8+4))
	}
	b.Write([]byte{0xff, 0xd9})
	return b.Bytes()
}

// A file of few bytes with thousands of scans is refused, and not decoded for minutes.
func TestManyScans(t *testing.T) {
	if _, err := Decode(bytes.NewReader(manyScans(64, 20))); err != nil {
		t.Fatalf("20 scans: %v", err)
	}
	took := func(scans int) (time.Duration, error) {
		data := manyScans(3000, scans)
		begun := time.Now()
		_, err := Decode(bytes.NewReader(data))
		return time.Since(begun), err
	}
	most, err := took(99) // however busy the machine is
	if err != nil {
		t.Fatalf("99 scans: %v", err)
	}
	refused, err := took(10000)
	if err == nil || !strings.Contains(err.Error(), "more than 100 scans") {
		t.Errorf("10,000 scans: %v", err)
	}
	if refused > 4*most+time.Second {
		t.Errorf("10,000 scans are refused after %v, and 99 decoded in %v", refused, most)
	}
}

// A decoding ends with its context.
func TestDecodeIsCancelled(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(enough) })
	begun := time.Now()
	_, err := Stored.Decode(ctx, manyScans(9000, 99))
	if !errors.Is(err, enough) {
		t.Errorf("error %v, want %v", err, enough)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it ends after %v", took)
	}
}
