package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/seed"
)

// nearFeatures writes features of two sites of twenty images; the last image of each is nearly
// equal to the one before.
func nearFeatures(t *testing.T, path string) {
	t.Helper()
	const dim = 16
	var x []byte
	var ids strings.Builder
	var last [dim]float32
	r := seed.New(1, "features")
	for i := range 40 {
		for j := range last {
			v := float32(r.NormFloat64())
			if i%20 == 19 {
				v = last[j] + v/100
			}
			last[j] = v
			x = binary.LittleEndian.AppendUint32(x, math.Float32bits(v))
		}
		fmt.Fprintf(&ids, "%s/%02d.png\n", []string{"east", "west"}[i/20], i%20)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = safetensors.Write(f, []safetensors.Entry{{Name: "features", DType: safetensors.Float32, Shape: []int{40, dim}, Data: x},
		{Name: "ids", DType: safetensors.Uint8, Shape: []int{ids.Len()}, Data: []byte(ids.String())}}, nil)
	fatal.If(t, errors.Join(err, f.Close()))
}

// Damaged images are in no group, and do not stop the others.
func TestDataGroupsOfDamaged(t *testing.T) {
	pretrainedOrSkip(t)
	dir := t.TempDir()
	stdout, stderr, status := call(t, dir, "data", "groups", "--dataset", "folder", "--root", inputs(t, "damaged"), "--cache", "cache", "--quiet", "--out", "groups.csv")
	if status != 0 || !strings.Contains(stdout, "groups.csv: 15 images") || !strings.Contains(stderr, "1 file is left out: south/dog/dog_3.jpg") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// Images that are nearly the same are found by their features and written as a file that
// training takes, whose groups no split divides.
func TestDataGroups(t *testing.T) {
	root, dir := photoFolder(t), t.TempDir()
	nearFeatures(t, filepath.Join(dir, "x.safetensors"))
	call := func(want string, args ...string) string {
		t.Helper()
		stdout, stderr, status := call(t, dir, args...)
		if status != 0 != (want != "") || want != "" && (!strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1) {
			t.Fatalf("ledg %q: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	out := call("", "data", "groups", "--dataset", "features", "--root", "x.safetensors", "--out", "groups.csv")
	if !strings.Contains(out, "groups.csv: 40 images, 4 of them in 2 groups with several images, at most 2 in one\n") {
		t.Errorf("it says %s", out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "groups.csv"))
	if err != nil || !strings.HasPrefix(string(data), "id,label,group\n") || !strings.Contains(string(data), "east/19.png,,east/18.png\n") || !strings.Contains(string(data), "west/18.png,,west/18.png\n") || !strings.Contains(string(data), "west/00.png,,\n") {
		t.Errorf("%s, %v", data, err)
	}
	out = call("", "data", "check", "--dataset", "features", "--root", "x.safetensors", "--labels", "groups.csv")
	if !strings.Contains(out, "40 images (38 groups)") || !strings.Contains(out, "each one of its own: 36 images") {
		t.Errorf("the check says\n%s", out)
	}
	call("--out groups.csv: the file exists", "data", "groups", "--dataset", "features", "--root", "x.safetensors", "--out", "groups.csv")
	call(`--group: "(" is no regular expression`, "data", "check", "--dataset", "folder", "--root", root, "--group", "(")
	call(`--group: "(" is no regular expression`, "train", "--dataset", "features", "--root", "x.safetensors", "--target", "none", "--group", "(")
	call(`group rule "south" matches none of the 40 images`, "train", "--dataset", "features", "--root", "x.safetensors", "--target", "none", "--classes", "a,b", "--group", "south", "--oracle", "ask", "--out", "never", "--quiet")
	call("glyphs: images are compared by features", "data", "groups", "--dataset", "glyphs", "--out", "other.csv")
	for _, name := range []string{"never", "other.csv"} {
		if exists(filepath.Join(dir, name)) {
			t.Errorf("there is %s", name)
		}
	}
}
