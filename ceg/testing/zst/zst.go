// Package zst reads Zstandard files of tests.
package zst

import (
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Decode unpacks data, and ends the test if it is not from Zstandard.
func Decode(t testing.TB, data []byte) []byte {
	t.Helper()
	d := fatal.Get(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)))(t)
	defer d.Close()
	return fatal.Get(d.DecodeAll(data, nil))(t)
}

// Read is [Decode] of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	return Decode(t, fatal.Get(os.ReadFile(path))(t))
}
