package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The example has what its help says, is the same each time, and every label is of a photo.
func TestDataExample(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr, status := call(t, dir, "data", "example", "try")
	if status != 0 || stderr != "" || stdout != "try has example photos of 3 homes, a new site, labels, a pool and a study\n" {
		t.Fatalf("status %d, %s%s", status, stdout, stderr)
	}
	in := filepath.Join(dir, "try")
	stdout, stderr, status = call(t, in, "data", "check", "--dataset", "folder", "--root", "photos", "--labels", "labels.csv")
	if status != 0 || !strings.Contains(stdout, "folder: 120 images in 3 sites of 3 classes") || strings.Contains(stdout, "unlabelled") {
		t.Errorf("photos: status %d, %s%s", status, stdout, stderr)
	}
	for folder, n := range map[string]int{"new-photos": 12, "many": 80, "more": 20} {
		if files, err := os.ReadDir(filepath.Join(in, folder)); err != nil || len(files) != n {
			t.Errorf("%s: %d files, %v, want %d", folder, len(files), err, n)
		}
	}
	if text := read(t, filepath.Join(in, "many.csv")); strings.Count(text, "\n") != 81 || strings.Count(text, ",pants\n") != 23 {
		t.Errorf("many.csv is %s", text)
	}
	if text := read(t, filepath.Join(in, "LICENCES")); !strings.Contains(text, "OpenMoji") || !strings.Contains(text, "clothing-dataset") {
		t.Errorf("LICENCES is %s", text)
	}
	for _, strategy := range []string{"ceg", "bvsb", "maxherding", "bait"} {
		if stdout, stderr, status := call(t, in, "query", "--pool", "pool.npz", "-n", "3", "--strategy", strategy); status != 0 || strings.Count(stdout, "\n") != 3 {
			t.Errorf("query %s: status %d, %s%s", strategy, status, stdout, stderr)
		}
	}
	prints(t, "4", in, "study", "run", "study.yaml", "--dir", "x", "--dry-run")
	refused(t, "try exists; name a new folder", 2, dir, "data", "example", "try")

	call(t, dir, "data", "example", "again")
	for _, name := range []string{"labels.csv", "many.csv"} {
		if read(t, filepath.Join(in, name)) != read(t, filepath.Join(dir, "again", name)) {
			t.Errorf("%s differs the second time", name)
		}
	}
}

// read returns the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	data := fatal.Get(os.ReadFile(path))(t)
	return string(data)
}
