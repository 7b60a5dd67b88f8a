package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// pretrainedOrSkip skips the test where the published weights of the network that looks at
// photos are not in this machine's cache: nothing is downloaded by tests.
func pretrainedOrSkip(t *testing.T) {
	t.Helper()
	if !hasPretrained() {
		t.Skip("needs the weights of " + photos.Network + " in the cache; any ledg train --dataset folder puts them there")
	}
}

func hasPretrained() bool {
	_, err := pretrained.Open(context.Background(), pretrained.ImageNet, photos.Network, pretrained.Options{Offline: true})
	return err == nil
}

// Without its weights the command says which file to put where, and writes nothing.
func TestPhotosOffline(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("HF_HUB_OFFLINE", "1")
	refused(t, "put it at "+filepath.Join(dir, "cache", "ledg", "weights"), 1, dir, "train", "--dataset", "folder", "--root", photoFolder(t), "--budget", "4", "--out", "run", "--quiet")
	if exists(filepath.Join(dir, "run")) {
		t.Error("a run has begun")
	}
}

// A backend that is not there is reported before weights are fetched.
func TestBackendBeforeWeights(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("HF_HUB_OFFLINE", "1")
	stdout, stderr, status := call(t, dir, "train", "--backend", "xla:rocket", "--target", "photo", "--net", "resnet18", "--weights", "imagenet", "--out", "run")
	checkError(t, "xla:rocket", 1, stdout, stderr, status)
	if strings.Contains(stderr, "weights") {
		t.Errorf("weights were looked for first: %s", stderr)
	}
	prints(t, `"photo"`, dir, "train", "--backend", "xla:rocket", "--target", "photo", "--print-config") // for another machine
}

// The page shows the epoch, and after the last one what is computed then.
func TestPageShowsProgress(t *testing.T) {
	var p runPage
	for _, c := range []struct {
		e    ceg.Event
		want string
	}{
		{ceg.Event{Epochs: 20, Message: "round 0: 2 of 2 labels are awaited"}, ""},
		{ceg.Event{Epoch: 4, Epochs: 20, Step: 1, Steps: 3}, "epoch 5 of 20"},
		{ceg.Event{Epoch: 4, Epochs: 20, Step: 3, Steps: 3, Done: true, Message: "round 1: 2 of 2 labels are awaited"}, "epoch 5 of 20"},
		{ceg.Event{Epoch: 19, Epochs: 20, Step: 3, Steps: 3, Done: true}, "epoch 20 of 20"},
		{ceg.Event{Epoch: 19, Epochs: 20, Step: 3, Steps: 3, Done: true, Message: "estimating the accuracy: 1 of 9"}, "estimating the accuracy: 1 of 9"},
	} {
		if p.observe(c.e); p.training != c.want {
			t.Errorf("%+v: %q, want %q", c.e, p.training, c.want)
		}
	}
}

// What is wrong with target, budget, classes and folder is found before a photo is looked at, and
// before weights are opened.
func TestPhotosCheckedFirst(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache")) // without weights, so that looking fails
	t.Setenv("HF_HUB_OFFLINE", "1")
	for _, name := range []string{"mine/notes.txt", "done/config.json", "done/result.json"} {
		fatal.If(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o666))
	}
	root := photoFolder(t)
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, `--target: data set folder has no site "nowhere"; it has day, night`, []string{"--target", "nowhere", "--budget", "4"}},
		{2, "--budget: budget 500 is more than the pool of", []string{"--target", "night", "--budget", "500"}},
		{2, "leaves 1 initial labels for 2 source sites", []string{"--oracle", "ask", "--classes", "a,b", "--layout", "{site}/**/{name}", "--budget", "1"}},
		{2, "leaves 1 initial labels for 2 source sites", []string{"--budget", "1"}},
		{1, "mine has notes.txt but no config.json; choose another --out", []string{"--budget", "4", "--out", "mine"}},
		{1, "done: the directory holds", []string{"--budget", "4", "--out", "done"}},
		{1, "cannot be made", []string{"--budget", "4", "--out", filepath.Join(root, "day", "cat", "1.png", "x")}},
	} {
		refused(t, c.want, c.status, dir, append([]string{"train", "--dataset", "folder", "--root", root, "--out", "new", "--quiet"}, c.args...)...)
	}
	if exists(filepath.Join(dir, "new")) {
		t.Error("a run has begun")
	}
}

// A folder of photos without labels becomes a model by three commands: people are asked for
// what no folder says, by the features of a pretrained network; what comes out is used as any
// model is, and grows with new labels.
func TestPhotos(t *testing.T) {
	pretrainedOrSkip(t)
	dir := t.TempDir()
	root := photoFolder(t)
	class := map[string]string{}
	for _, domain := range []string{"day", "night"} {
		for _, c := range []string{"cat", "dog"} {
			for _, name := range []string{"1.png", "2.png", "3.png"} {
				fatal.If(t, os.Rename(filepath.Join(root, domain, c, name), filepath.Join(root, domain, c+name)))
				class[domain+"/"+c+name] = c
			}
			fatal.If(t, os.Remove(filepath.Join(root, domain, c)))
		}
	}
	train := []string{"train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--budget", "6", "--epochs", "3", "--cache", "cache", "--out", "run", "--quiet"}
	stdout, stderr, status := call(t, dir, train...)
	if status != 3 {
		t.Fatalf("status %d, %s%s", status, stdout, stderr)
	}
	label := func(run string) {
		t.Helper()
		works(t, dir, "label", "export", run, "--format", "csv", "--out", run+".csv")
		f := fatal.Get(os.Open(filepath.Join(dir, run+".csv")))(t)
		defer f.Close()
		rows := fatal.Get(csv.NewReader(f).ReadAll())(t)
		text := "id,label\n"
		for _, row := range rows[1:] {
			text += row[0] + "," + class[row[0]] + "\n"
		}
		fatal.If(t, os.WriteFile(filepath.Join(dir, run+"-a.csv"), []byte(text), 0o666))
		works(t, dir, "label", "import", run, "--format", "csv", run+"-a.csv")
	}
	label("run")
	stdout, stderr, status = call(t, dir, append(train, "--resume", "--json")...) // the same words again
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); status != 0 || err != nil || r.Labels != 6 || r.Preset != "pooled" {
		t.Fatalf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
	if err := os.Rename(filepath.Join(dir, "run"), filepath.Join(dir, "moved")); err != nil { // with its features
		t.Fatal(err)
	}
	works(t, dir, "predict", "moved", "--images", root, "--out", "p.csv")
	fatal.If(t, os.Rename(root, root+"-moved"))
	folder := []string{"label", "export", "moved", "--which", "labelled", "--format", "folder", "--out"}
	if _, stderr, status := call(t, dir, append(folder, "x")...); status != 1 || !strings.Contains(stderr, "no longer in "+root) {
		t.Errorf("photos that have moved: status %d, %s", status, stderr)
	}
	works(t, dir, append(folder, "exported", "--root", root+"-moved")...)
	fatal.If(t, os.Rename(root+"-moved", root))
	stdout, stderr, status = call(t, dir, "extend", "moved", "--budget", "8", "--cache", "cache", "--out", "more", "--quiet")
	if status != 3 || !strings.Contains(stdout, "more begins with 6 labels of moved") {
		t.Fatalf("extend: status %d, %s%s", status, stdout, stderr)
	}
	label("more")
	works(t, dir, "train", "--resume", "--out", "more", "--quiet")
	// With a label for every photo nobody is asked.
	list := "id,label\n"
	for id, c := range class {
		list += id + "," + c + "\n"
	}
	fatal.If(t, os.WriteFile(filepath.Join(dir, "all.csv"), []byte(list), 0o666))
	prints(t, "Estimated accuracy, from 4 labels", dir, "train", "--dataset", "folder", "--root", root, "--labels", "all.csv", "--budget", "4", "--epochs", "2", "--cache", "cache", "--out", "labelled", "--quiet")
	// The model card repeats the estimate, and why it has no interval.
	works(t, dir, "export", "labelled", "--out", "m.onnx")
	checkText(t, filepath.Join(dir, "m.md"), "Estimated from the 4 labels, by the run's training", "These numbers have no interval")
	checkPrinted(t, dir, "labelled")
	refused(t, "--objective jigen needs pixels", 2, dir, "train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--objective", "jigen", "--out", "x")
	refused(t, "--classes is missing", 2, dir, "train", "--dataset", "folder", "--root", root, "--out", "x")
}

// A budget counts whatever the table of labels lacks. Photos without a row are not queried; those that
// cannot be read do not count. Otherwise all labels are trained on, which the first line says.
func TestBudgetBesideATable(t *testing.T) {
	dir := t.TempDir()
	root := photoFolder(t) // day|night/cat|dog/N.png
	table, without, n := "id,label\n", "day/cat/1.png", 0
	for _, domain := range []string{"day", "night"} {
		for _, c := range []string{"cat", "dog"} {
			files := fatal.Get(filepath.Glob(filepath.Join(root, domain, c, "*.png")))(t)
			for _, f := range files {
				if id := domain + "/" + c + "/" + filepath.Base(f); id != without {
					table, n = table+id+","+c+"\n", n+1
				}
			}
		}
	}
	full := table + without + ",cat\n"
	for name, text := range map[string]string{"some.csv": table, "full.csv": full} {
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	photo := filepath.Join(root, filepath.FromSlash(without))
	whole := read(t, photo)
	asGiven := fmt.Sprintf("1 of %d photos to train on have no label: all %d labels of the others are trained on", n+1, n)
	for _, c := range []struct {
		table, line string
		people      bool
		damaged     bool
		flags       []string
	}{
		{table: "full.csv"},
		{table: "some.csv", line: fmt.Sprintf("1 of %d photos to train on have no label: the labels of the others are the annotator, and --budget 4 takes at most 4 of them", n+1)},
		{table: "some.csv", line: asGiven, people: true, flags: []string{"--oracle", "ask"}},
		{table: "some.csv", line: asGiven, people: true, flags: []string{"--label"}},
		{table: "some.csv", line: asGiven, people: true, flags: []string{"--budget", fmt.Sprint(n + 1)}},
		{table: "some.csv", damaged: true},
	} {
		content := whole
		if c.damaged {
			content = whole[:len(whole)/2]
		}
		fatal.If(t, os.WriteFile(photo, []byte(content), 0o666))
		args := []string{"train", "--dataset", "folder", "--root", root, "--layout", "{site}/*/{name}", "--classes", "cat,dog", "--labels", c.table, "--budget", "4", "--out", "x", "--print-config"}
		stdout, stderr, status := call(t, dir, append(args, c.flags...)...)
		if people := strings.Contains(stdout, `"oracle": "ask"`); status != 0 || people != c.people || !strings.HasPrefix(stderr, c.line) || c.line == "" && strings.Contains(stderr, "have no label") {
			t.Errorf("%+v: status %d, people %v, %s", c, status, people, stderr)
		}
	}
	// A table of all labels, imported into a run, gives it those that it has queried.
	fatal.If(t, os.WriteFile(photo, []byte(whole), 0o666))
	_, stderr, status := call(t, dir, "train", "--dataset", "folder", "--root", root, "--layout", "{site}/*/{name}", "--classes", "cat,dog", "--net", "smallcnn", "--width", "4", "--image-size", "16",
		"--target", "none", "--preset", "ledg", "--oracle", "ask", "--budget", "4", "--epochs", "2", "--out", "run", "--quiet", "--backend", "go", "--cache", "cache")
	if status != 3 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	stdout, stderr, status := call(t, dir, "label", "import", "run", "full.csv", "--format", "csv")
	if status != 0 || !strings.Contains(stdout, "4 labels read, 4 of them new") || !strings.Contains(stderr, fmt.Sprintf("labels of %d images that run has not queried are left out", n+1-4)) {
		t.Errorf("import: status %d, %s%s", status, stdout, stderr)
	}
}

// checkText checks that a file has texts.
func checkText(t *testing.T, path string, want ...string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			t.Errorf("%s: no %q in\n%s", path, w, text)
		}
	}
}

// checkPrinted checks that every command on a run's report page is one, with flags that it has.
func checkPrinted(t *testing.T, dir, run string) {
	t.Helper()
	works(t, dir, "report", run, "--out", "printed.html")
	page := fatal.Get(os.ReadFile(filepath.Join(dir, "printed.html")))(t)
	lines := regexp.MustCompile(`<pre><code>(.*?)</code></pre>`).FindAllStringSubmatch(string(page), -1)
	if len(lines) < 3 {
		t.Errorf("%d commands", len(lines))
	}
	for _, line := range lines {
		words := strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(line[1], "")))
		if !strings.HasSuffix(words[0], "ledg") {
			continue
		}
		cmd, rest, err := newRootCommand().Find(words[1:])
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}
