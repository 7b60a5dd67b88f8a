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
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// unlabelled writes a few images to root/domain/image.
func unlabelled(t *testing.T, root string) {
	t.Helper()
	for _, domain := range []string{"day", "night"} {
		for i := range 3 {
			m := image.NewGray(image.Rect(0, 0, 8, 8))
			m.SetGray(i, i, color.Gray{200})
			fatal.If(t, os.MkdirAll(filepath.Join(root, domain), 0o777))
			f := fatal.Get(os.Create(filepath.Join(root, domain, fmt.Sprintf("%d.png", i))))(t)
			fatal.If(t, png.Encode(f, m))
			f.Close()
		}
	}
}

// getJSON gets JSON from the page.
func getJSON(t *testing.T, address, path string, into any) {
	t.Helper()
	reply := fatal.Get(http.Get(address + path))(t)
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
	fatal.If(t, os.WriteFile(filepath.Join(dir, "guesses.csv"), []byte("path,class,probability,second,margin,entropy,distance,nearest\nphotos/day/1.png,dog,0.9,cat,0.8,0.3,0.1,x\n"), 0o666))
	args := []string{"label", "--dataset", "folder", "--root", "photos", "--classes", "cat,dog", "--by", "ann", "--predictions", "guesses.csv"}
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
	}{{[]string{"--disagreement", "majority"}, labels.Majority}, {nil, labels.Majority}, {[]string{"--disagreement", "newest"}, labels.Newest}} {
		works(t, dir, append(slices.Clone(args), c.more...)...)
		l := fatal.Get(labels.Open(filepath.Join(dir, "photos"), nil, labels.Options{}))(t)
		l.View(func(s *labels.State) {
			if s.Rule() != c.want {
				t.Errorf("%q: the rule is %s, want %s", c.more, s.Rule(), c.want)
			}
		})
		fatal.If(t, l.Close())
	}
	var setup struct {
		Classes     []string
		By          string
		Predictions bool
	}
	if getJSON(t, address, "setup", &setup); fmt.Sprint(setup) != "{[cat dog] ann true}" {
		t.Errorf("setup %v", setup)
	}
	var view struct {
		Question struct{ ID, Rev string }
		N        struct{ Total, Labelled int }
	}
	getJSON(t, address, "view?client=test", &view)
	if view.N.Total != 6 {
		t.Errorf("%d images, want 6", view.N.Total)
	}
	body := fmt.Sprintf(`{"client":"test","op":"label","id":%q,"rev":%q,"class":"dog"}`, view.Question.ID, view.Question.Rev)
	reply := fatal.Get(http.Post(address+"act", "application/json", strings.NewReader(body)))(t)
	reply.Body.Close()
	list, err := labels.ReadFile(filepath.Join(dir, "photos", labels.File))
	if err != nil || len(list) != 1 || list[0].ID != view.Question.ID || list[0].Class != "dog" {
		t.Errorf("the ledger has %v, %v", list, err)
	}

	says(t, "stopped the server of", dir, stop...)
	says(t, "no server runs", dir, stop...)
	out, errs, status = call(t, dir, append(args, "--detach")...)
	if status != 0 || strings.TrimSpace(out) != address {
		t.Errorf("started again: status %d, %s, want %s\n%s", status, out, address, errs)
	}
	if getJSON(t, address, "view?client=other", &view); view.N.Labelled != 1 {
		t.Errorf("%d answers are there after a restart, want 1", view.N.Labelled)
	}
}

// Of several servers started together one serves, and the others say where; with other classes
// they say that it has these.
func TestLabelStartedAtOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	unlabelled(t, filepath.Join(dir, "photos"))
	args := []string{"label", "--dataset", "folder", "--root", "photos", "--classes", "cat,dog"}
	t.Cleanup(func() { call(t, dir, append(args, "--stop")...) })
	var starts sync.WaitGroup
	addresses := make([]string, 4)
	for i := range addresses {
		starts.Go(func() {
			out, errs, status := call(t, dir, append(slices.Clone(args), "--detach")...)
			if addresses[i] = out; status != 0 || !strings.HasPrefix(out, "http://127.0.0.1:") {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
		})
	}
	starts.Wait()
	if slices.Sort(addresses); addresses[0] != addresses[3] {
		t.Errorf("several servers: %q", addresses)
	}
	for _, classes := range []string{"dog,cat", "cat,dog,horse"} {
		for _, more := range [][]string{nil, {"--detach"}} {
			_, errs, status := call(t, dir, append([]string{"label", "--dataset", "folder", "--root", "photos", "--classes", classes}, more...)...)
			if status != 1 || !strings.Contains(errs, "with the classes cat, dog: stop it with --stop") {
				t.Errorf("--classes %s %v: status %d, %s", classes, more, status, errs)
			}
		}
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%v is left in the temporary folder", left)
	}
}

// A second annotator has a server of its own, which asks about what the first has
// answered, and the two are compared.
func TestLabelBlind(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	unlabelled(t, filepath.Join(dir, "photos"))
	args := []string{"label", "--dataset", "folder", "--root", "photos", "--classes", "cat,dog", "--by"}
	serve := func(more ...string) string {
		t.Helper()
		all := append(slices.Clone(args), more...)
		out, errs, status := call(t, dir, append(all, "--detach")...)
		if status != 0 {
			t.Fatalf("%q: status %d: %s", more, status, errs)
		}
		t.Cleanup(func() { call(t, dir, append(all, "--stop")...) })
		return strings.TrimSpace(out)
	}
	var view struct {
		Question *struct{ ID, Rev, Current string }
		N        struct{ Total int }
	}
	say := func(address, class string) {
		t.Helper()
		getJSON(t, address, "view?client=test", &view)
		if view.Question == nil || view.Question.Current != "" {
			t.Fatalf("%s asks %+v", address, view.Question)
		}
		reply, err := http.Post(address+"act", "application/json", strings.NewReader(fmt.Sprintf(`{"client":"test","op":"label","id":%q,"rev":%q,"class":%q}`, view.Question.ID, view.Question.Rev, class)))
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatal(reply, err)
		}
		reply.Body.Close()
	}
	ann := serve("ann")
	say(ann, "cat")
	say(ann, "dog")
	if _, errs, status := call(t, dir, append(slices.Clone(args), "bob")...); status != 1 || !strings.Contains(errs, "for ann: stop it with --stop before bob labels") {
		t.Errorf("bob at ann's page: status %d, %s", status, errs)
	}
	bob := serve("bob", "--blind")
	if bob == ann {
		t.Fatal("bob has ann's page")
	}
	say(bob, "cat")
	say(bob, "cat")
	if getJSON(t, bob, "view?client=test", &view); view.Question != nil || view.N.Total != 2 {
		t.Errorf("in the end bob is asked %+v of %d", view.Question, view.N.Total)
	}
	out, errs, status := call(t, dir, "label", "agreement", "photos")
	want := "ann and bob: 1 of 2 equal, Cohen's kappa 0.000\nannotators differ about 1 image; the rule ask decides:\n"
	if status != 0 || !strings.Contains(out, want) || !strings.HasSuffix(out, ": bob says cat, ann says dog; it is disputed\n") {
		t.Errorf("agreement: status %d, %s%s", status, out, errs)
	}
}

func TestLabelUsage(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	unlabelled(t, filepath.Join(dir, "photos"))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "guesses.csv"), []byte("path,class,probability,second,margin,entropy,distance,nearest\nelsewhere/1.png,dog,0.9,cat,0.8,0.3,0.1,x\n"), 0o666))
	fatal.If(t, os.Mkdir(filepath.Join(dir, "run"), 0o777))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "run", result.ConfigFile), []byte("{}"), 0o666))
	photos := []string{"--dataset", "folder", "--root", "photos"}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "nothing to label"},
		{[]string{"nowhere"}, 2, "nowhere: no such file"},
		{[]string{"photos/day/0.png"}, 2, "is not a run's folder"},
		{[]string{"photos"}, 2, "photos is not a run's folder; to label the images in it: ledg label --dataset folder --root photos --classes CLASS,CLASS"},
		{[]string{"photos", "--classes", "a,b"}, 2, "to label the images in it"},
		{[]string{"run"}, 1, "no labels.jsonl"},
		{[]string{"run", "--classes", "a,b"}, 2, "--classes does not apply: the run run specifies what to label"},
		{[]string{"--dataset", "glyphs"}, 2, "--ledger is missing"},
		{photos, 2, "--classes is missing"},
		{append(photos, "--classes", "cat,cat"), 2, "twice"},
		{append(photos, "--classes", "cat,dog", "--port", "70000"), 2, `"70000" for "--port" flag`},
		{append(photos, "--classes", "cat,dog", "--disagreement", "loudest"), 2, "loudest"},
		{append(photos, "--classes", "cat,dog", "--by", "ann,,bob"), 2, "--by ann,,bob: want names"},
		{append(photos, "--classes", "cat,dog", "--by", "ann,ann"), 2, "each once"},
		{append(photos, "--classes", "cat,dog", "--by", "ann\nben"), 2, `--by "ann\nben": a name with control characters`},
		{append(photos, "--classes", "cat,dog", "--by", strings.Repeat("e", 100_000)), 2, "--by: a name of 100000 characters, want at most 100"},
		{append(photos, "--classes", "cat,dog", "--listen", ""), 2, "such as 0.0.0.0:8000"},
		{append(photos, "--classes", "cat,dog", "--listen", "0.0.0.0:http"), 2, "--listen 0.0.0.0:http: want HOST:PORT"},
		{append(photos, "--classes", "cat,dog", "--listen", "0.0.0.0:8000", "--port", "8001"), 2, "or HOST and --port"},
		{append(photos, "--classes", "cat,dog", "--tls-cert", "cert.pem"), 2, "give both, such as --tls-cert cert.pem --tls-key key.pem"},
		{append(photos, "--classes", "cat,dog", "--tls-cert", "cert.pem", "--tls-key", "key.pem"), 2, "--tls-cert cert.pem: "},
		{append(photos, "--classes", "cat,dog", "--ledger", "none"), 2, "--ledger none"},
		{append(photos, "--classes", "cat,dog", "--blind"), 2, "--blind needs --by"},
		{append(photos, "--classes", "cat,dog", "--blind", "--by", "bob", "--again"), 2, "give one of them"},
		{[]string{"agreement", "photos"}, 2, "no labels.jsonl"},
		{append(photos, "--classes", "cat,dog", "--listen", "192.0.2.1"), 1, "--listen 192.0.2.1"},
		{append(photos, "--classes", "cat,dog", "--predictions", "none.csv"), 1, "none.csv"},
		{append(photos, "--classes", "cat,dog", "--predictions", "guesses.csv"), 1, "none of its 1 rows"},
		{append(photos, "--classes", "cat,dog", "--predictions", "guesses.csv", "--detach"), 1, "none of its 1 rows"},
	} {
		out, errs, status := call(t, dir, append([]string{"label"}, tt.args...)...)
		if status != tt.status || !strings.Contains(errs, tt.want) || out != "" || strings.Count(strings.TrimSpace(errs), "\n") > 0 {
			t.Errorf("ledg label %v: status %d, %q; want %d, %q", tt.args, status, errs, tt.status, tt.want)
		}
	}
}
