package predict

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// writeEmbeddings writes the features of the images in the table, in its order:
//
//	.npz          features float32 [images, dim] and paths, strings [images]
//	.safetensors  features F32 [images, dim] and paths U8, a JSON string a line
//	.parquet      columns path and features, a list of float32
//
// An empty path writes nothing.
func writeEmbeddings(path string, j *journal) error {
	if path == "" {
		return nil
	}
	write := map[string]func(io.Writer, *journal) error{".npz": writeNPZ, ".safetensors": writeSafetensors, ".parquet": writeParquet}[filepath.Ext(path)]
	return regular.WriteFile(path, func(w io.Writer) error { return write(w, j) })
}

// rawFeatures is a reader of all features, as they are in .npy and .safetensors.
func (j *journal) rawFeatures() io.Reader {
	if j.parts != nil {
		var all []io.Reader
		for _, p := range j.parts {
			all = append(all, p.rawFeatures())
		}
		return io.MultiReader(all...)
	}
	return io.NewSectionReader(j.features, 0, int64(j.done-j.failed)*int64(4*j.dim))
}

// paths calls f with the path of every image in the table.
func (j *journal) paths(f func(path string) error) error {
	return j.each(func(e entry) error {
		if e.Error != "" {
			return nil
		}
		return f(e.Path)
	})
}

func writeParquet(w io.Writer, j *journal) error {
	rows := parquet.NewGenericWriter[embedding](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetGroup/4))
	features := bufio.NewReaderSize(j.rawFeatures(), 1<<16)
	raw, one := make([]byte, 4*j.dim), []embedding{{Features: make([]float32, j.dim)}}
	err := j.paths(func(path string) error {
		if _, err := io.ReadFull(features, raw); err != nil {
			return err
		}
		for i := range j.dim {
			one[0].Features[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		one[0].Path = path
		_, err := rows.Write(one)
		return err
	})
	return errors.Join(err, rows.Close())
}

func writeSafetensors(w io.Writer, j *journal) error {
	lines, err := os.CreateTemp("", "ledg-paths-*")
	if err != nil {
		return err
	}
	defer os.Remove(lines.Name())
	defer lines.Close()
	b := bufio.NewWriter(lines)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := j.paths(func(path string) error { return e.Encode(path) }); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	size, err := lines.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return safetensors.Write(w, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{j.done - j.failed, j.dim}, From: j.rawFeatures()},
		{Name: "paths", DType: safetensors.Uint8, Shape: []int{int(size)}, From: io.NewSectionReader(lines, 0, size)},
	}, map[string]string{"paths": "one JSON string a line, a path for each row of features"})
}

// writeNPZ writes what numpy.load reads. NumPy's strings have one width: that of
// the longest path.
func writeNPZ(w io.Writer, j *journal) error {
	width := 1
	if err := j.paths(func(path string) error {
		width = max(width, utf8.RuneCountInString(path))
		return nil
	}); err != nil {
		return err
	}
	z := zip.NewWriter(w)
	n := j.done - j.failed
	f, err := z.CreateHeader(&zip.FileHeader{Name: "features.npy", Method: zip.Store})
	if err != nil {
		return err
	}
	if _, err := f.Write(npyHead("<f4", fmt.Sprintf("(%d, %d)", n, j.dim))); err != nil {
		return err
	}
	if _, err := io.Copy(f, j.rawFeatures()); err != nil {
		return err
	}
	if f, err = z.CreateHeader(&zip.FileHeader{Name: "paths.npy", Method: zip.Deflate}); err != nil {
		return err
	}
	if _, err := f.Write(npyHead(fmt.Sprintf("<U%d", width), fmt.Sprintf("(%d,)", n))); err != nil {
		return err
	}
	if err := j.paths(func(path string) error {
		b := make([]byte, 0, 4*width)
		for _, r := range path {
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
		}
		_, err := f.Write(b[:4*width])
		return err
	}); err != nil {
		return err
	}
	return z.Close()
}

// npyHead is the header of a .npy file of version 1.0 (numpy/lib/format.py): padded
// with spaces to a multiple of 64 bytes.
func npyHead(descr, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text))), text...)
}
