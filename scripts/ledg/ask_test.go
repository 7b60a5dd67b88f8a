package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// flat makes a folder with domains of images, whose names say what class they are of.
func flat(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "flat")
	for k, domain := range []string{"dawn", "day", "night"} {
		fatal.If(t, os.MkdirAll(filepath.Join(root, domain), 0o777))
		for i := range 12 {
			m := image.NewGray(image.Rect(0, 0, 16, 16))
			for j := range 256 {
				m.SetGray(j%16, j/16, color.Gray{Y: uint8(40*k + 7*i*(j%(2+i%2)))})
			}
			f := fatal.Get(os.Create(filepath.Join(root, domain, fmt.Sprintf("%s %d.png", []string{"cat", "dog"}[i%2], i))))(t)
			fatal.If(t, png.Encode(f, m))
			fatal.If(t, f.Close())
		}
	}
	return root
}

// labelAll labels the open queries of a run.
func labelAll(t *testing.T, dir string) int {
	t.Helper()
	l := fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
	defer l.Close()
	var open []labels.Image
	l.View(func(s *labels.State) { open = s.OpenImages(-1) })
	for _, v := range open {
		class, _, _ := strings.Cut(filepath.Base(v.ID), " ")
		fatal.Get(l.Append(labels.Event{Kind: labels.Labelled, ID: v.ID, Class: class, By: "ann"}))(t)
	}
	return len(open)
}

// From images without classes to a trained run: status 3 until people have answered,
// and nothing to repeat but where the run is.
func TestTrainWithPeople(t *testing.T) {
	dir := t.TempDir()
	root, out := flat(t), filepath.Join(dir, "run")
	args := []string{"train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--target", "night", "--oracle", "ask", "--timing", "early",
		"--budget", "8", "--epochs", "4", "--width", "4", "--image-size", "16", "--backend", "go", "--out", out, "--cache", filepath.Join(dir, "cache"), "--quiet"}
	refused(t, "2 of the 2 labels before training are needed: give them in a browser with ledg label "+out, 3, dir, args...)
	refused(t, "--resume continues it", 1, dir, args...)
	again := []string{"train", "--resume", "--out", out, "--backend", "go", "--cache", filepath.Join(dir, "cache"), "--quiet"}
	refused(t, "2 of the 2 labels before training are needed", 3, dir, again...)

	// Elsewhere: the run knows its settings, and gets the place of its images.
	moved := filepath.Join(dir, "moved")
	fatal.If(t, os.Rename(root, moved))
	labelAll(t, out)
	again = append(again, "--root", moved)
	refused(t, "6 of the 6 labels of query 1 are needed", 3, dir, again...)
	labelAll(t, out)
	stdout, stderr, status := call(t, dir, again...)
	if status != 0 || stderr != "" || !strings.Contains(stdout, "No label of the target domain night is known, so there is nothing to measure with.") {
		t.Fatalf("status %d, stdout\n%s\nstderr %s", status, stdout, stderr)
	}
	r, err := result.ReadResult(os.DirFS(out), result.ResultFile)
	if err != nil || r.Labels != 8 {
		t.Errorf("%+v, %v", r, err)
	}

	prints(t, "No label of the target domain night is known", dir, "compare", out)
	refused(t, `--oracle: "crowd", want one of simulated, ask`, 2, dir, slices.Concat(args, []string{"--root", moved, "--out", filepath.Join(dir, "other"), "--oracle", "crowd"})...)
	refused(t, "--wait: only a run with --oracle ask", 2, dir, "train", "--target", "photo", "--wait", "--out", filepath.Join(dir, "other"))
	refused(t, "--label: only a run with --oracle ask", 2, dir, "train", "--target", "photo", "--label", "--out", filepath.Join(dir, "other"))

	// Without people only labelled images can be queried, and there are none.
	refused(t, "the class of only 0 of the 24 source training images is known; with the oracle ask people are asked", 2, dir, "train", "--dataset", "folder", "--root", moved, "--classes", "cat,dog", "--net", "smallcnn", "--target", "night", "--budget", "8", "--out", filepath.Join(dir, "other"), "--quiet")
	refused(t, "--classes: data set folder has 0 classes", 2, dir, "train", "--dataset", "folder", "--root", moved, "--net", "smallcnn", "--target", "night", "--budget", "8", "--out", filepath.Join(dir, "other"), "--quiet")
	if _, err := os.Stat(filepath.Join(dir, "other", checkpoint.File)); err == nil {
		t.Error("a refused run has begun")
	}
}
