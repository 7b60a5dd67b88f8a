package predict

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/datasets/arrays"
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

func writeParquet(w io.Writer, j *journal) error {
	rows := parquet.NewGenericWriter[embeddingRow](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetGroup/4))
	one := []embeddingRow{{Features: make([]float32, j.dim)}}
	err := j.images(func(p Prediction, features []byte) error {
		safetensors.Floats(one[0].Features, features)
		one[0].Path = p.Path
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
	if err := j.images(func(p Prediction, _ []byte) error { return e.Encode(p.Path) }); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	size, err := lines.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	features, to := io.Pipe()
	defer features.Close() // ends the other side, too
	go func() {
		to.CloseWithError(j.images(func(_ Prediction, features []byte) error {
			_, err := to.Write(features)
			return err
		}))
	}()
	return safetensors.Write(w, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{j.done - j.failed, j.dim}, From: bufio.NewReaderSize(features, 1<<16)},
		{Name: "paths", DType: safetensors.Uint8, Shape: []int{int(size)}, From: io.NewSectionReader(lines, 0, size)},
	}, map[string]string{"paths": "one JSON string a line, a path for each row of features"})
}

// writeNPZ writes what numpy.load reads. NumPy's strings have one width: that of
// the longest path.
func writeNPZ(w io.Writer, j *journal) error {
	width := 1
	if err := j.images(func(p Prediction, _ []byte) error {
		width = max(width, utf8.RuneCountInString(p.Path))
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
	if _, err := f.Write(arrays.Header("<f4", n, j.dim)); err != nil {
		return err
	}
	if err := j.images(func(_ Prediction, features []byte) error {
		_, err := f.Write(features)
		return err
	}); err != nil {
		return err
	}
	if f, err = z.CreateHeader(&zip.FileHeader{Name: "paths.npy", Method: zip.Deflate}); err != nil {
		return err
	}
	if _, err := f.Write(arrays.Header(fmt.Sprintf("<U%d", width), n)); err != nil {
		return err
	}
	if err := j.images(func(p Prediction, _ []byte) error {
		b := make([]byte, 0, 4*width)
		for _, r := range p.Path {
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
		}
		_, err := f.Write(b[:4*width])
		return err
	}); err != nil {
		return err
	}
	return z.Close()
}
