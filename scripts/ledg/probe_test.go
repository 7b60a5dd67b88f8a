package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "pool.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := safetensors.Write(f, []safetensors.Entry{
		safetensors.FloatEntry("features", []int{4, 2}, []float32{1, 0, 1, 0.1, 0, 1, 0.1, 1}),
		safetensors.IntEntry("labels", []int{0, 0, 1, 0}),
		safetensors.IntEntry("domains", []int{0, 0, 1, 1}),
		safetensors.FloatEntry("labelled_features", []int{2, 2}, []float32{1, -0.1, -0.1, 1}),
		safetensors.IntEntry("labelled_labels", []int{0, 1}),
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
	checkError(t, "head clap starts from class embeddings: give a file with an array text", 1, stdout, stderr, status)
}
