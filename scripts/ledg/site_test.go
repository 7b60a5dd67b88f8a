package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// sketches writes images of the style that tiny leaves out to a folder, from one on; their
// names begin with their classes, as answerAll wants it.
func sketches(t *testing.T, dir string, from, to int) {
	t.Helper()
	d, truth := fatal.Get2(datasets.Glyphs(60))(t)
	k := fatal.Get(d.Domain("sketch"))(t)
	fatal.If(t, os.MkdirAll(dir, 0o777))
	n := 0
	for i, e := range d.Examples {
		if e.Domain != k {
			continue
		}
		if n++; n <= from || n > to {
			continue
		}
		m := fatal.Get(d.Image(i))(t)
		f := fatal.Get(os.Create(filepath.Join(dir, fmt.Sprintf("%s %d.png", d.Classes[truth.Class(i)], n))))(t)
		fatal.If(t, png.Encode(f, m.ToImage()))
		f.Close()
	}
}

// A run arrives at a site: an estimate, questions on the page that labels runs, a report,
// predictions with sets, a network for others, new images, and a table.
func TestSite(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	ledg := func(want string, args ...string) string {
		t.Helper()
		stdout, stderr, status := call(t, dir, args...)
		if status != 0 || !strings.Contains(stdout, want) {
			t.Fatalf("ledg %s: status %d, %q, %s; want %q", strings.Join(args, " "), status, stdout, stderr, want)
		}
		return stdout
	}
	refuses := func(want string, wantStatus int, args ...string) {
		t.Helper()
		refused(t, want, wantStatus, dir, args...)
	}
	ledg("", tiny("run", "--quiet")...)
	sketches(t, filepath.Join(dir, "north"), 0, 120)
	ledg("to measure accuracy: ledg site --out sites/north --ask", "site", "run", "--images", "north", "--backend", "go")
	refuses("no audited images yet", 1, "predict", "sites/north", "--images", "north", "--out", "p.csv", "--abstain", "0.2", "--backend", "go")
	refuses("is not a site", 1, "predict", "run", "--images", "north", "--out", "p.csv", "--abstain", "0.2", "--backend", "go")
	refuses("run is not a site: a threshold needs an audit", 1, "predict", "run", "--images", "north", "--out", "p.csv", "--sets", "0.5", "--backend", "go")
	refuses(`"2" for "--sets" flag: want above 0`, 2, "predict", "run", "--images", "north", "--out", "p.csv", "--sets", "2", "--backend", "go")
	refuses("120 images are too few for 90 to adapt and an audit of 50", 1, "site", "--out", "sites/north", "--adapt", "90", "--backend", "go")
	ledg("90 labels are queried: give them with ledg label sites/north", "site", "--out", "sites/north", "--adapt", "40", "--backend", "go")
	args := []string{"label", "sites/north", "--by", "ann"}
	t.Cleanup(func() { call(t, dir, append(args, "--stop")...) })
	address := strings.TrimSpace(ledg("http://127.0.0.1:", append(args, "--detach")...))
	var setup struct {
		Classes []string
	}
	getJSON(t, address, "setup", &setup)
	if n := len(setup.Classes); n != 11 || setup.Classes[10] != site.Other {
		t.Errorf("the page offers %v", setup.Classes)
	}
	ledg("", append(args, "--stop")...)
	ledg("q.csv: 90 images", "label", "export", "sites/north", "--format", "csv", "--out", "q.csv")
	id, _, _ := strings.Cut(strings.Split(read(t, filepath.Join(dir, "q.csv")), "\n")[1], ",")
	class, _, _ := strings.Cut(id, " ")
	fatal.If(t, os.WriteFile(filepath.Join(dir, "a.csv"), []byte("id,label\n"+id+","+class+"\n"), 0o666))
	ledg("1 labels read, 1 of them new", "label", "import", "sites/north", "a.csv", "--format", "csv")
	if n := labelAll(t, filepath.Join(dir, "sites", "north")); n != 89 {
		t.Fatalf("%d questions", n)
	}
	ledg("after adapting with 40 labels", "site", "--out", "sites/north", "--backend", "go")
	var report site.Report
	if err := json.Unmarshal([]byte(ledg("", "site", "--out", "sites/north", "--json", "--quiet", "--backend", "go")), &report); err != nil || report.Visits[0].Audited != 50 || report.Visits[0].Gain == nil {
		t.Errorf("%+v, %v", report, err)
	}
	ledg("p.csv: 120 images", "predict", "sites/north", "--images", "north", "--out", "p.csv", "--sets", "0.9", "--abstain", "0.2", "--backend", "go")
	table, err := os.ReadFile(filepath.Join(dir, "p.csv"))
	if err != nil || !strings.Contains(string(table), ",nearest,looks_new,calibrated,set,abstained\n") || !strings.Contains(string(table), ",true\n") {
		t.Errorf("%.200s, %v", table, err)
	}
	// The table of the site and ledg predict of the same photos agree.
	rows := func(name string) map[string][]string {
		list := fatal.Get(csv.NewReader(strings.NewReader(read(t, filepath.Join(dir, name)))).ReadAll())(t)
		out := map[string][]string{}
		for _, row := range list {
			out[filepath.Base(row[0])] = row
		}
		return out
	}
	mine := rows("p.csv")
	for name, row := range rows("sites/north/predictions.csv") {
		p, _ := strconv.ParseFloat(row[2], 64)
		q, _ := strconv.ParseFloat(mine[name][2], 64)
		if math.Abs(p-q) > 1e-5 || row[1] != mine[name][1] || row[7] != mine[name][8] || row[8] != mine[name][9] || row[8] == "false" {
			t.Fatalf("%s: the site has %v, ledg predict %v", name, row, mine[name])
		}
	}
	refuses("audit of at least 99 images, and there are 50", 1, "predict", "sites/north", "--images", "north", "--out", "q.csv", "--sets", "0.99", "--backend", "go")
	ledg("north.onnx", "export", "sites/north", "--out", "north.onnx")
	if network, err := os.ReadFile(filepath.Join(dir, "north.onnx")); err != nil || !strings.Contains(string(network), "sets_0.9") || !strings.Contains(string(network), "abstain_0.2") {
		t.Errorf("the network has no thresholds, %v", err)
	}
	if card, err := os.ReadFile(filepath.Join(dir, "north.md")); err != nil || !strings.Contains(string(card), "## At the site north") || !strings.Contains(string(card), "after adapting with 40 labels") {
		t.Errorf("%s, %v", card, err)
	}
	refuses("not by the one of a site", 1, "calibrate", "sites/north")
	sketches(t, filepath.Join(dir, "north"), 120, 160)
	ledg("north: 40 images that came", "site", "--out", "sites/north", "--backend", "go")
	if lines := strings.Split(strings.TrimSpace(ledg("audited", "site", "table", "sites/north")), "\n"); len(lines) != 3 {
		t.Errorf("table %q", lines)
	}
	refuses("ledg site writes its page, sites/north/report.html", 2, "report", "sites/north", "--out", "x.html")
	refuses("give a run and --images", 2, "site", "run")
	refuses(`--group: "(" is no regular expression`, 2, "site", "run", "--images", "north", "--group", "(")
	refuses("was begun with the group rule", 1, "site", "--out", "sites/north", "--group", "^(.)", "--backend", "go")
	refuses(`"0.5" for "--until" flag: want at least 1`, 2, "site", "--out", "sites/north", "--until", "0.5")
	refuses("has no report.json", 1, "site", "table", "run")
}
