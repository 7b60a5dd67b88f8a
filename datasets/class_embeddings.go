package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/arrays"
)

// ClassEmbeddings are class embeddings, made from words by the text tower of the network that made features of
// images: their cosine similarity to an image says how well the class fits it.
type ClassEmbeddings struct {
	// Network is the text tower's file, Digest its SHA-256, and Tokenizer the SHA-256 of the tokenizer's
	// file. Family tells how texts are prepared.
	Network   string `json:"network"`
	Digest    string `json:"digest"`
	Tokenizer string `json:"tokenizer"`
	Family    string `json:"family"`
	// Templates are the texts around a class's words, in the place of {}; Words are those of each
	// of the Classes.
	Templates []string `json:"templates"`
	Classes   []string `json:"classes"`
	Words     []string `json:"words"`
	// Values are the embeddings [classes, features], each of length 1.
	Values [][]float32 `json:"-"`
}

// NamesKey is the metadata key of a file's [ClassEmbeddings], as JSON, and NamesArray the name of the array of
// their values [classes, features].
const NamesKey, NamesArray = "names", "text"

// Names returns the class embeddings in the file; nil if it has none.
func (f *Features) Names() *ClassEmbeddings { return f.names }

// Of returns the embeddings of some classes, row by row; a class without one is an error, and so is a nil n.
func (n *ClassEmbeddings) Of(classes []string) (rows []float32, err error) {
	if n == nil {
		return nil, errors.New("it needs class names, and the features have none: embed them with --names")
	}
	for _, c := range classes {
		i := slices.Index(n.Classes, c)
		if i < 0 {
			return nil, fmt.Errorf("class %q has no embedding of its name, only %s have: embed again with --names", c, strings.Join(n.Classes, ", "))
		}
		rows = append(rows, n.Values[i]...)
	}
	return rows, nil
}

// classEmbeddings reads what the file has beside features of a number; nil for none.
func (f *featureFile) classEmbeddings(dim int) (*ClassEmbeddings, error) {
	text, ok := f.Metadata()[NamesKey]
	if !ok || !f.Has(NamesArray) {
		return nil, nil
	}
	n := &ClassEmbeddings{}
	if err := json.Unmarshal([]byte(text), n); err != nil {
		return nil, fmt.Errorf("%s in the metadata: %w", NamesKey, err)
	}
	a, err := f.Array(NamesArray)
	if err != nil {
		return nil, err
	}
	rows, cols, err := a.Matrix()
	if err != nil {
		return nil, err
	}
	if cols != dim || rows != len(n.Classes) || rows != len(n.Words) {
		return nil, a.Errorf("%d class embeddings of %d numbers, want %d of %d", rows, cols, len(n.Classes), dim)
	}
	return n, arrays.Blocks(context.Background(), a, func(_ int, block []float32) error {
		for row := range slices.Chunk(block, dim) {
			n.Values = append(n.Values, slices.Clone(row))
		}
		return nil
	})
}
