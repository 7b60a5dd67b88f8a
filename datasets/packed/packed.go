// Package packed opens zip archives that are compressed by Zstandard as a whole. Names and headers of
// thousands of small files then take hardly any bytes.
package packed

import (
	"archive/zip"
	"bytes"

	"github.com/klauspost/compress/zstd"
)

// Zip opens an archive. It returns an error if data is not from Zstandard, or not of a zip archive.
func Zip(data []byte) (*zip.Reader, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	all, err := d.DecodeAll(data, nil)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(all), int64(len(all)))
}
