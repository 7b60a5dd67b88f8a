package predict

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// writeEmbeddings writes the features of the images in the table, in its order, as safetensors:
// features F32 [images, dim] and paths U8, a JSON string a line. An empty path writes nothing.
func writeEmbeddings(path string, j *journal) error {
	if path == "" {
		return nil
	}
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	e.SetEscapeHTML(false)
	if err := j.images(func(p Prediction, _ []byte) error { return e.Encode(p.Path) }); err != nil {
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
	return regular.WriteFile(path, func(w io.Writer) error {
		return safetensors.Write(w, []safetensors.Entry{
			{Name: "features", DType: safetensors.Float32, Shape: []int{j.done - j.failed, j.dim}, From: bufio.NewReaderSize(features, 1<<16)},
			{Name: "paths", DType: safetensors.Uint8, Shape: []int{lines.Len()}, Data: lines.Bytes()},
		}, map[string]string{"paths": "one JSON string a line, a path for each row of features"})
	})
}
