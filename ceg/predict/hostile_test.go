package predict_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Files of other programs by the journal's names are errors, and stay as they are.
func TestFilesLeaveForeignOnes(t *testing.T) {
	p := open(t, copied(t))
	dir, _ := gallery(t, 5)
	for _, name := range []string{"t.csv.part"} {
		for _, text := range []string{"", "another program's\n", "another program's line without a newline"} {
			for _, linked := range []bool{false, true} {
				out := t.TempDir()
				file := filepath.Join(out, name)
				if linked {
					file = filepath.Join(t.TempDir(), "file")
					if err := os.Symlink(file, filepath.Join(out, name)); err != nil {
						t.Skip(err)
					}
				} else if text == "" {
					continue // which is what a killed call may leave
				}
				put(t, file, []byte(text))
				_, err := p.Files(t.Context(), predict.FilesOptions{Images: []string{dir}, Out: filepath.Join(out, "t.csv")})
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s, linked %v: error %v", name, linked, err)
				}
				if got := content(t, file); got != text {
					t.Errorf("%s, linked %v: %q is now %q", name, linked, text, got)
				}
			}
		}
	}
}

// Damaged tables are errors, or are read: none ends the program.
func TestDamagedTable(t *testing.T) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[predict.Prediction](&b, parquet.Compression(&parquet.Zstd))
	for i := range 200 {
		fatal.Get(w.Write([]predict.Prediction{{Path: fmt.Sprint(i), Class: "cat", Second: "dog", Nearest: "x"}}))(t)
	}
	fatal.If(t, w.Close())
	path := filepath.Join(t.TempDir(), "t.parquet")
	r := rand.New(rand.NewPCG(3, 4))
	read := 0
	for i := range 300 {
		data := bytes.Clone(b.Bytes())
		for range min(i, 3) {
			data[r.IntN(len(data))] = byte(r.Uint32())
		}
		put(t, path, data)
		rows := 0
		err := predict.ReadTable(path, func(predict.Prediction) error { rows++; return nil })
		if err == nil {
			read++
		}
		if i == 0 && (err != nil || rows != 200) {
			t.Fatalf("%d rows of the whole table, %v", rows, err)
		}
	}
	t.Logf("%d of 300 tables are read", read)
}

// FuzzReadTable reads anything as a table of predictions.
func FuzzReadTable(f *testing.F) {
	f.Add([]byte("path,class,probability,second,margin,entropy,distance,nearest\na.png,cat,0.9,dog,0.8,0.1,0.2,x\n"))
	f.Add([]byte(`{"path":"a.png","class":"cat","probability":0.9}` + "\n"))
	var b bytes.Buffer
	w := parquet.NewGenericWriter[predict.Prediction](&b, parquet.Compression(&parquet.Zstd))
	fatal.Get(w.Write([]predict.Prediction{{Path: "a.png", Class: "cat"}}))(f)
	fatal.If(f, w.Close())
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"t.csv", "t.jsonl", "t.parquet"} {
			path := filepath.Join(dir, name)
			fatal.If(t, os.WriteFile(path, data, 0o666))
			_ = predict.ReadTable(path, func(predict.Prediction) error { return nil })
		}
	})
}
