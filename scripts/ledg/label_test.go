package main

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
)

// unlabelled writes a few images to root/domain/image.
func unlabelled(t *testing.T, root string) {
	t.Helper()
	for _, domain := range []string{"day", "night"} {
		for i := range 3 {
			m := image.NewGray(image.Rect(0, 0, 8, 8))
			m.SetGray(i, i, color.Gray{200})
			if err := os.MkdirAll(filepath.Join(root, domain), 0o777); err != nil {
				t.Fatal(err)
			}
			f, err := os.Create(filepath.Join(root, domain, fmt.Sprintf("%d.png", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, m); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
}

// asks gets JSON from the page.
func asks(t *testing.T, address, path string, into any) {
	t.Helper()
	reply, err := http.Get(address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if data, err := io.ReadAll(reply.Body); err != nil || reply.StatusCode != http.StatusOK || json.Unmarshal(data, into) != nil {
		t.Fatalf("%s: %s %v: %s", path, reply.Status, err, data)
	}
}

// A folder without classes is labelled before any run, by a server that outlives its
// command, is not started twice, and has the same address when it is started again.
func TestLabelFolder(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	unlabelled(t, filepath.Join(dir, "photos"))
	if err := os.WriteFile(filepath.Join(dir, "guesses.csv"), []byte("path,class,probability,second,margin,entropy,distance,nearest\nphotos/day/1.png,dog,0.9,cat,0.8,0.3,0.1,x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"label", "--dataset", "folder", "--root", "photos", "--classes", "cat,dog", "--by", "ann", "--guesses", "guesses.csv"}
	stop := append(args, "--stop")
	t.Cleanup(func() { call(t, dir, stop...) })
	out, errs, status := call(t, dir, append(args, "--detach")...)
	if status != 0 || !strings.HasPrefix(out, "http://127.0.0.1:") {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	address := strings.TrimSpace(out)
	if again, _, status := call(t, dir, args...); status != 0 || again != out {
		t.Errorf("a second server: status %d, %s", status, again)
	}
	// A rule is for all who read the ledger, and not that of one server.
	for _, c := range []struct {
		more []string
		want labels.Rule
	}{{[]string{"--rule", "majority"}, labels.Majority}, {nil, labels.Majority}, {[]string{"--rule", "newest"}, labels.Newest}} {
		if _, errs, status := call(t, dir, append(slices.Clone(args), c.more...)...); status != 0 {
			t.Fatalf("%q: status %d: %s", c.more, status, errs)
		}
		l, err := labels.Open(filepath.Join(dir, "photos"), nil, labels.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l.View(func(s *labels.State) {
			if s.Rule() != c.want {
				t.Errorf("%q: the rule is %s, want %s", c.more, s.Rule(), c.want)
			}
		})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var setup struct {
		Classes []string
		By      string
		Guesses bool
	}
	if asks(t, address, "setup", &setup); fmt.Sprint(setup) != "{[cat dog] ann true}" {
		t.Errorf("setup %v", setup)
	}
	var view struct {
		Question struct{ ID, Rev string }
		N        struct{ Total, Answered int }
	}
	asks(t, address, "view?client=test", &view)
	if view.N.Total != 6 {
		t.Errorf("%d images, want 6", view.N.Total)
	}
	body := fmt.Sprintf(`{"client":"test","op":"answer","id":%q,"rev":%q,"class":"dog"}`, view.Question.ID, view.Question.Rev)
	reply, err := http.Post(address+"act", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	list, err := labels.ReadFile(filepath.Join(dir, "photos", labels.File))
	if err != nil || len(list) != 1 || list[0].ID != view.Question.ID || list[0].Class != "dog" {
		t.Errorf("the ledger has %v, %v", list, err)
	}

	if _, errs, status := call(t, dir, stop...); status != 0 || !strings.Contains(errs, "has ended") {
		t.Fatalf("stop: status %d: %s", status, errs)
	}
	if _, errs, status := call(t, dir, stop...); status != 0 || !strings.Contains(errs, "no server runs") {
		t.Errorf("stop again: status %d: %s", status, errs)
	}
	out, errs, status = call(t, dir, append(args, "--detach")...)
	if status != 0 || strings.TrimSpace(out) != address {
		t.Errorf("started again: status %d, %s, want %s\n%s", status, out, address, errs)
	}
	if asks(t, address, "view?client=other", &view); view.N.Answered != 1 {
		t.Errorf("%d answers are there after a restart, want 1", view.N.Answered)
	}
}

func TestLabelUsage(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	unlabelled(t, filepath.Join(dir, "photos"))
	if err := os.WriteFile(filepath.Join(dir, "guesses.csv"), []byte("path,class,probability,second,margin,entropy,distance,nearest\nelsewhere/1.png,dog,0.9,cat,0.8,0.3,0.1,x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	photos := []string{"--dataset", "folder", "--root", "photos"}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "there is nothing to label"},
		{[]string{"nowhere"}, 2, "nowhere: no such file"},
		{[]string{"photos/day/0.png"}, 2, "is not a run's folder"},
		{[]string{"photos"}, 1, "no labels.jsonl"},
		{[]string{"photos", "--classes", "a,b"}, 2, "--classes: the run photos says what to label"},
		{[]string{"--dataset", "glyphs"}, 2, "--ledger is missing"},
		{photos, 2, "--classes is missing"},
		{append(photos, "--classes", "cat,cat"), 2, "twice"},
		{append(photos, "--classes", "cat,dog", "--port", "70000"), 2, "--port 70000"},
		{append(photos, "--classes", "cat,dog", "--rule", "loudest"), 2, "loudest"},
		{append(photos, "--classes", "cat,dog", "--ledger", "none"), 2, "--ledger none"},
		{append(photos, "--classes", "cat,dog", "--guesses", "none.csv"), 1, "none.csv"},
		{append(photos, "--classes", "cat,dog", "--guesses", "guesses.csv"), 1, "none of its 1 rows"},
		{append(photos, "--classes", "cat,dog", "--guesses", "guesses.csv", "--detach"), 1, "none of its 1 rows"},
	} {
		out, errs, status := call(t, dir, append([]string{"label"}, tt.args...)...)
		if status != tt.status || !strings.Contains(errs, tt.want) || out != "" || strings.Count(strings.TrimSpace(errs), "\n") > 0 {
			t.Errorf("ledg label %v: status %d, %q; want %d, %q", tt.args, status, errs, tt.status, tt.want)
		}
	}
}
