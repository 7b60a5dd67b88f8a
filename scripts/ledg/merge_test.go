package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// killed starts a command, kills it once the file exceeds a number of bytes, and starts it again.
func killed(t *testing.T, dir, file string, bytes int64, args ...string) {
	t.Helper()
	cmd := exec.Command(ledg, args...)
	cmd.Dir = dir
	fatal.If(t, cmd.Start())
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil && info.Size() > bytes {
			break
		}
	}
	cmd.Process.Kill()
	if cmd.Wait() == nil {
		t.Logf("%q had ended before it was killed", args)
	}
	works(t, dir, args...)
}

// What is done in shards, one of them killed and started again, is to the byte what one
// call does, and so is a prediction that was killed; shards that do not belong together are refused in a line.
func TestShards(t *testing.T) {
	dir, from := t.TempDir(), flat(t)
	for _, domain := range []string{"dawn", "day"} {
		fatal.If(t, os.MkdirAll(filepath.Join(dir, "images", domain), 0o777))
		for i := range 500 {
			data, err := os.ReadFile(filepath.Join(from, domain, fmt.Sprintf("%s %d.png", []string{"cat", "dog"}[i%2], i%12)))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "images", domain, fmt.Sprintf("%04d.png", i)), data, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	ledg := func(args ...string) string {
		t.Helper()
		stdout, stderr, status := call(t, dir, args...)
		if status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, stderr)
		}
		return stdout
	}
	same := func(a, b string) {
		t.Helper()
		x, errX := os.ReadFile(filepath.Join(dir, a))
		y, errY := os.ReadFile(filepath.Join(dir, b))
		if errX != nil || errY != nil || string(x) != string(y) {
			t.Errorf("%s is not %s: %v, %v", a, b, errX, errY)
		}
	}
	ledg(tiny("run", "--quiet", "--epochs", "1")...)
	embed := func(out string, more ...string) []string {
		return append([]string{"embed", "--dataset", "folder", "--root", "images", "--net", "smallcnn", "--width", "4", "--weights", "none", "--size", "32",
			"--backend", "go", "--quiet", "--out", out}, more...)
	}
	predict := func(out string, more ...string) []string {
		return append([]string{"predict", "run", "--images", "images", "--backend", "go", "--quiet", "--out", out + ".csv"}, more...)
	}
	ledg(embed("whole.safetensors")...)
	ledg(predict("whole")...)
	for i := range 3 {
		part := fmt.Sprintf("%d/3", i)
		if i == 1 {
			killed(t, dir, "f.safetensors.1-of-3", 2000, embed("f.safetensors", "--shard", part)...)
			continue
		}
		ledg(embed("f.safetensors", "--shard", part)...)
	}
	killed(t, dir, "p.csv.part", 2000, predict("p")...)
	if out := ledg("merge", "f.safetensors"); !strings.Contains(out, "f.safetensors: 1,000 images of 3 shards") {
		t.Errorf("merge says %s", out)
	}
	same("f.safetensors", "whole.safetensors")
	same("p.csv", "whole.csv")

	ledg(embed("q.safetensors", "--shard", "2/4")...)
	zero, one, two := "f.safetensors.0-of-3", "f.safetensors.1-of-3", "f.safetensors.2-of-3"
	fatal.If(t, os.Rename(filepath.Join(dir, two), filepath.Join(dir, "away")))
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, `invalid argument "5/4" for "--shard" flag: want I/N with I from 0 to N-1`, embed("x.safetensors", "--shard", "5/4")},
		{2, `invalid argument "3" for "--shard" flag: want I/N`, embed("x.safetensors", "--shard", "3")},
		{2, "unknown flag: --shard", predict("x", "--shard", "0/2")},
		{1, "shard 2/3 is missing; there are 2 of 3", []string{"merge", "f.safetensors"}},
		{1, "shard 1/3 is there twice: " + one + " and " + one, []string{"merge", "x.safetensors", zero, one, one, "away"}},
		{1, zero + " and q.safetensors.2-of-4 do not belong together: shards 0/3 and 2/4", []string{"merge", "x.safetensors", zero, one, "q.safetensors.2-of-4"}},
		{1, "whole.csv: it is no shard", []string{"merge", "x.safetensors", "whole.csv"}},
		{1, "x.safetensors: no shards lie beside it", []string{"merge", "x.safetensors"}},
		{1, "x.csv: features are written as .safetensors", []string{"merge", "x.csv", zero, one, "away"}},
	} {
		refused(t, c.want, c.status, dir, c.args...)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "x.*")); len(left) > 0 {
		t.Errorf("a refused command has written %q", left)
	}
}
