package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// traps are two classes of animals by emoji that differ in colour.
var traps = map[string]string{"fox": "noto/mammal/1f98a.webp", "panda": "noto/mammal/1f43c.webp"}

// cardOf writes photos of cameras, and returns the folder with a table of classes beside it.
func cardOf(t *testing.T, bursts int, names ...string) (dir string, photos []trapPhoto) {
	t.Helper()
	dir = t.TempDir()
	photos = makeTraps(t, filepath.Join(dir, "card"), names, bursts, traps)
	fatal.If(t, os.WriteFile(filepath.Join(dir, "labels.csv"), []byte(trapLabels(photos)), 0o666))
	return dir, photos
}

// small are the arguments of an embedding without weights from elsewhere.
func small(out string, more ...string) []string {
	return append([]string{"embed", "--dataset", "folder", "--root", "card", "--layout", "{site}/**/{name}", "--net", "smallcnn", "--width", "8", "--weights", "none", "--pooling", "flatten",
		"--size", "16", "--backend", "go", "--quiet", "--out", out}, more...)
}

// accuracyOf trains on the features in a file, and returns the accuracy at a camera, in percent.
func accuracyOf(t *testing.T, dir, file, target, out string) (percent float64) {
	t.Helper()
	stdout, _ := works(t, dir, "train", "--dataset", "features", "--root", file, "--target", target, "--preset", "ledg", "--normalise", "none", "--budget", "60", "--backend", "go", "--quiet", "--json", "--no-estimate", "--out", out)
	i := strings.Index(stdout, `"target_accuracy":`)
	if i < 0 {
		t.Fatalf("no accuracy in %s", stdout)
	}
	fmt.Sscan(stdout[i+len(`"target_accuracy":`):], &percent)
	return 100 * percent
}

// Where animals are small before cameras' backgrounds, crops are recognised at a new camera, and whole photos are
// not. The run on crops predicts boxes, and refuses whole photos.
func TestBoxesAtNewCameras(t *testing.T) {
	dir, photos := cardOf(t, 20, "c1", "c2", "c3", "c4")
	animals := ""
	for _, p := range photos {
		if p.Class != "blank" && len(p.Boxes) > 0 {
			animals += p.Path + "," + p.Class + "\n"
			continue
		}
		to := filepath.Join(dir, "rest", filepath.FromSlash(p.Path)) // blank ones, and those with a missed animal
		fatal.If(t, os.MkdirAll(filepath.Dir(to), 0o777))
		fatal.If(t, os.Rename(filepath.Join(dir, "card", filepath.FromSlash(p.Path)), to))
	}
	fatal.If(t, os.WriteFile(filepath.Join(dir, "labels.csv"), []byte("path,label\n"+animals), 0o666))
	works(t, dir, small("whole.safetensors", "--labels", "labels.csv")...)
	works(t, dir, small("crops.safetensors", "--labels", "labels.csv", "--boxes", "card/md.json")...)
	whole, crops := accuracyOf(t, dir, "whole.safetensors", "c4", "w"), accuracyOf(t, dir, "crops.safetensors", "c4", "c")
	if crops < whole+15 {
		t.Errorf("accuracy of crops %.1f%%, of whole photos %.1f%%; want 15 points more", crops, whole)
	}
	refused(t, "name the file of boxes with --boxes", 1, dir, "predict", "c", "--images", "card", "--out", "p.csv", "--backend", "go", "--quiet")
	refused(t, "trained on whole images", 1, dir, "predict", "w", "--images", "card", "--boxes", "card/md.json", "--out", "p.csv", "--backend", "go", "--quiet")
	works(t, dir, "predict", "c", "--images", "card", "--boxes", "card/md.json", "--out", "p.csv", "--backend", "go", "--quiet")
	rows := fatal.Get(csv.NewReader(strings.NewReader(read(t, filepath.Join(dir, "p.csv")))).ReadAll())(t)
	n := 0
	for _, p := range photos {
		n += len(p.Boxes)
	}
	if len(rows)-1 < n || !strings.HasPrefix(rows[1][0], "card/c1/IMG_") || !strings.Contains(rows[1][0], ".jpg#0.") {
		t.Errorf("%d rows, the first of %s, want at least %d, of boxes", len(rows)-1, rows[1][0], n)
	}
	// By month, a run's evaluation has the shares of classes and the accuracy that a count over predictions gives.
	var months []site.Month
	stdout, _ := works(t, dir, "eval", "c", "--by", "month", "--images", "card", "--json", "--backend", "go")
	fatal.If(t, json.Unmarshal([]byte(stdout), &months))
	seen := map[string]int{}
	for _, row := range rows[1:] {
		if strings.HasPrefix(row[0], "card/c4/") {
			seen["images"]++
			seen[row[1]]++
			path, _, _ := strings.Cut(strings.TrimPrefix(row[0], "card/"), "#")
			if strings.Contains(animals, path+","+row[1]+"\n") {
				seen["right"]++
			}
		}
	}
	if m := months[len(months)-1]; len(months) != 4 || m.Camera != "c4" || m.Month != "2026-05" || m.Images != seen["images"] || m.Audited != m.Images || m.Seen[0] != seen["fox"] ||
		int(m.Accuracy.Share*float64(m.Audited)+0.5) != seen["right"] || m.Estimate <= 0 || m.Rests == "" {
		t.Errorf("%d months, the last is %+v; want %v", len(months), m, seen)
	}
	refused(t, "has no c1/IMG_", 1, dir, "eval", "c", "--by", "month", "--images", "rest", "--backend", "go")
	refused(t, "--times is for --by month", 2, dir, "eval", "c", "--times", "labels.csv")
	// Photos without a box are blank, and so are events of them; MegaDetector's file read and written again is
	// the same.
	works(t, dir, "predict", "c", "--images", "rest", "--boxes", "card/md.json", "--events", "60s", "--out", "r.csv", "--export", "megadetector=1.json", "--export", "camtrap=dp", "--backend", "go", "--quiet")
	if text := read(t, filepath.Join(dir, "r.images.csv")); strings.Count(text, ",blank,,0,,1,false,c1/2026-05-01T") < 5 {
		t.Errorf("few blank images of events in\n%s", text)
	}
	if text := read(t, filepath.Join(dir, "r.events.csv")); strings.Count(text, ",blank,,0,,") < 5 {
		t.Errorf("few blank events in\n%s", text)
	}
	works(t, dir, "predict", "c", "--images", "rest", "--boxes", "1.json", "--out", "r.csv", "--export", "megadetector=2.json", "--backend", "go", "--quiet")
	if read(t, filepath.Join(dir, "1.json")) != read(t, filepath.Join(dir, "2.json")) {
		t.Error("MegaDetector's export, read and written again, differs")
	}
	works(t, dir, "data", "check", "--dataset", "folder", "--root", "rest", "--layout", "{site}/**/{name}", "--labels", "dp/observations.csv")
	// Boxes are queried as images are, and the file of features says that it has boxes.
	works(t, dir, "query", "--pool", "crops.safetensors", "--strategy", "kmeans", "-n", "3")
	if !strings.Contains(read(t, filepath.Join(dir, "crops.safetensors")), `+boxes\"`) {
		t.Error("the origin does not say boxes")
	}
}

// Events are groups that no split divides, from the times in names.
func TestEventsAreGroups(t *testing.T) {
	dir, photos := cardOf(t, 6, "c1", "c2")
	events := map[string]bool{}
	for _, p := range photos {
		events[p.Event] = true
	}
	stdout, stderr := works(t, dir, "data", "check", "--dataset", "folder", "--root", "card", "--layout", "{site}/**/{name}", "--labels", "labels.csv", "--events", "60s")
	for _, want := range []string{fmt.Sprintf("%d events of %d images with gaps of at most 1m0s in a folder, at most %d in one", len(events), len(photos), trapFrames), fmt.Sprintf("%d groups", len(events))} {
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("no %q in\n%s%s", want, stdout, stderr)
		}
	}
	refused(t, "--group makes other groups", 2, dir, "data", "check", "--dataset", "folder", "--root", "card", "--group", "x", "--events", "60s")
	refused(t, "want a gap such as 60s", 2, dir, "data", "check", "--dataset", "folder", "--root", "card", "--events", "-1s")
}
