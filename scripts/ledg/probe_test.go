package main

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	floats := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	ints := func(v ...int64) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
		return b
	}
	f, err := os.Create(filepath.Join(dir, "pool.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := safetensors.Write(f, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{4, 2}, Data: floats(1, 0, 1, 0.1, 0, 1, 0.1, 1)},
		{Name: "labels", DType: safetensors.Int64, Shape: []int{4}, Data: ints(0, 0, 1, 0)},
		{Name: "domains", DType: safetensors.Int64, Shape: []int{4}, Data: ints(0, 0, 1, 1)},
		{Name: "labelled_features", DType: safetensors.Float32, Shape: []int{2, 2}, Data: floats(1, -0.1, -0.1, 1)},
		{Name: "labelled_labels", DType: safetensors.Int64, Shape: []int{2}, Data: ints(0, 1)},
	}, nil); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := call(t, dir, "probe", "--pool", "pool.safetensors", "--head", "gda", "--out", "out.safetensors")
	want := "domain  samples  accuracy\n0             2    100.00\n1             2     50.00\nall           4     75.00\n"
	if strings.ReplaceAll(stdout, "-", "") == "" || status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		if !strings.Contains(stdout, line) {
			t.Errorf("no line %q in\n%s", line, stdout)
		}
	}
	if stdout, stderr, status = call(t, dir, "query", "--pool", "out.safetensors", "-n", "2", "--strategy", "bait"); status != 0 || strings.Count(stdout, "\n") != 2 {
		t.Errorf("a query of what it wrote: status %d, stderr %q, stdout %q", status, stderr, stdout)
	}
	stdout, stderr, status = call(t, dir, "probe", "--pool", "pool.safetensors", "--head", "clap")
	checkError(t, "--text is missing: clap starts from class embeddings", 2, stdout, stderr, status)
}
