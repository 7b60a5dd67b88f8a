package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/report/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

const hostile = `<script>alert("x")</script>`

// recorded is a copy of a run of notebooks/results, with a hostile class.
func recorded(t *testing.T) string {
	t.Helper()
	fsys := fatal.Get(result.FS("../../../notebooks/results/glyphs/glyphs-cartoon-ceg-authors-5pct-s1-e740d6833b"))(t)
	dir := filepath.Join(t.TempDir(), "run")
	fatal.If(t, os.Mkdir(dir, 0o777))
	for _, name := range []string{result.ConfigFile, result.RecordsFile, result.QueriesFile, result.ResultFile, result.DoneFile} {
		data, err := fs.ReadFile(fsys, name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "queries.csv")
	b := fatal.Get(os.ReadFile(path))(t)
	lines := strings.SplitAfterN(string(b), "\n", 3)
	f := strings.Split(lines[1], ",")
	f[3] = `"` + strings.ReplaceAll(hostile, `"`, `""`) + `"`
	lines[1] = strings.Join(f, ",")
	fatal.If(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666))
	l := calibration.Labelled{Logits: [][]float32{{2, 0}, {1, 0}, {0, 3}}, Class: []int{0, 1, 1}}
	c := &calibration.Calibration{Source: calibration.NewFit(1.5, 3, l, l), Best: 1, Classes: []string{"a&b", hostile}, Confusion: calibration.Confuse(l, 2)}
	fatal.If(t, c.Write(dir))
	return dir
}

func write(t *testing.T, dir string, o page.Options) string {
	t.Helper()
	f := fatal.Get(report.OpenRun(dir))(t)
	var b bytes.Buffer
	fatal.If(t, page.Write(t.Context(), &b, "title "+hostile, []*report.Folder{f}, o))
	return b.String()
}

// Whatever a run's files say is text, and the page loads nothing.
func TestPageIsSelfContainedAndSafe(t *testing.T) {
	html := write(t, recorded(t), page.Options{})
	if n := strings.Count(strings.ToLower(html), "<script"); n != 0 {
		t.Errorf("%d script elements", n)
	}
	if n := strings.Count(html, "&lt;script&gt;"); n < 5 { // title twice, the matrix, a tile, the confusion matrix
		t.Errorf("the hostile name is there %d times as text", n)
	}
	for _, m := range regexp.MustCompile(`(?i)(src|srcset|href)\s*=\s*"([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[2], "data:image/") {
			t.Errorf("%s is %.60s", m[1], m[2])
		}
	}
	if m := regexp.MustCompile(`(?i)\s(on\w+|style)=`).FindString(html); m != "" {
		t.Errorf("attribute %q", m)
	}
	css := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(html)[1]
	sum := sha256.Sum256([]byte(css))
	policy := "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(html, "&#43;", "+"), "&#39;", "'"), policy) {
		t.Errorf("no policy %s", policy)
	}
	for _, want := range []string{"Reliability", "On the target, cartoon.", "Round 0, before training: Random. Later rounds, 40 labels: CEG selection.", "Queried images", "best source val", "&#34;seed&#34;: 1", "GoMLX", "prefers-color-scheme"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(html, "data:image/jpeg"); n != 48 {
		t.Errorf("%d pictures, want 48", n)
	}
	if n := strings.Count(write(t, recorded(t), page.Options{Pictures: 7}), "data:image/jpeg"); n != 7 {
		t.Errorf("%d pictures, want 7", n)
	}
}

// A calibration of other weights, people who labelled, and their agreement are said.
func TestPageSaysWhoAndWhatIsStale(t *testing.T) {
	dir := recorded(t)
	f := fatal.Get(report.OpenRun(dir))(t)
	if dirs, err := page.Shown([]*report.Folder{f}, page.Options{}); err != nil || !slices.Equal(dirs, []string{dir}) {
		t.Fatalf("shown are %v (%v)", dirs, err)
	}
	if html := write(t, dir, page.Options{}); strings.Contains(html, "Annotators") || strings.Contains(html, `<p class="warning">of`) {
		t.Error("people, or a warning, of a run without")
	}
	ledger := fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
	defer ledger.Close()
	for _, e := range []labels.Event{
		{By: "ada", Kind: labels.Labelled, ID: "a", Class: "0"}, {By: hostile, Kind: labels.Labelled, ID: "a", Class: "0"},
		{By: "ada", Kind: labels.Labelled, ID: "b", Class: "1"}, {By: hostile, Kind: labels.Labelled, ID: "b", Class: "0"},
		{By: "ada", Kind: labels.Labelled, ID: "c", Class: "1"}, {By: hostile, Kind: labels.Unsure, ID: "c", Class: "1"},
	} {
		fatal.Get(ledger.Append(e))(t)
	}
	html := write(t, dir, page.Options{Stale: map[string]string{dir: "of <b>other</b> weights"}})
	for _, want := range []string{
		`<p class="warning">of &lt;b&gt;other&lt;/b&gt; weights</p>`, "Annotators",
		`<td>&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;</td><td class="n">3</td><td class="n">1</td>`,
		"2 of 3 equal, Cohen&#39;s kappa 0.400.", "Annotators disagree on 1 images; the rule is newest.",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// Where no label of a target is known, everything is on the sources' validation images.
func TestPageWithoutATarget(t *testing.T) {
	dir := recorded(t)
	l := calibration.Labelled{Logits: [][]float32{{2, 0}, {1, 0}}, Class: []int{0, 1}}
	c := &calibration.Calibration{Source: calibration.NewFit(1.5, 2, l, calibration.Labelled{}), Best: 1, Classes: []string{"a", "b"}, Confusion: calibration.Confuse(l, 2)}
	fatal.If(t, c.Write(dir))
	if n := len(page.Reliability(c).Panels); n != 1 {
		t.Errorf("%d panels, want that of the sources", n)
	}
	res := fatal.Get(result.ReadResult(os.DirFS(dir), result.ResultFile))(t)
	records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
	var lines []byte
	for i := range records {
		records[i].Accuracy = slices.DeleteFunc(records[i].Accuracy, func(a result.Accuracy) bool { return a.Split == result.TestSplit })
		line := fatal.Get(records[i].Line())(t)
		lines = append(lines, line...)
	}
	res.Target, res.Note = config.NoTarget, "there is no target"
	res.Accuracy = fatal.Get(result.Choose(records))(t)
	b := fatal.Get(res.JSON())(t)
	config := fatal.Get(os.ReadFile(filepath.Join(dir, result.ConfigFile)))(t)
	config = bytes.Replace(config, []byte(`"target":"cartoon"`), []byte(`"target":"none"`), 1)
	for name, data := range map[string][]byte{result.RecordsFile: lines, result.ResultFile: b, result.ConfigFile: config} {
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	html := write(t, dir, page.Options{})
	last := res.Accuracy.LastEpoch.SourceVal
	for _, want := range []string{"Accuracy on source validation images", "no target domain", "On the source validation images.",
		fmt.Sprintf("<td>none</td><td class=\"n\">1</td><td class=\"n\">80</td><td class=\"n\">%.2f</td></tr>", 100*last.Share())} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(html, ">target %<") {
		t.Error("accuracies of a target that there is not")
	}
	c.CrossValidated = true
	fatal.If(t, c.Write(dir))
	if html := write(t, dir, page.Options{}); !strings.Contains(html, "On cross-validated labels.") || strings.Contains(html, "On the source validation images.") {
		t.Error("the confusion matrix of cross-validated labels is said to be of validation images")
	}
	f := fatal.Get(report.OpenRun(dir))(t)
	d, err := f.Epochs(report.FigureOptions{})
	if err != nil || len(d.Curves) != 1 || d.Title != "glyphs, source validation" {
		t.Fatalf("%+v (%v)", d, err)
	}
	if got := d.Curves[0].Points[len(d.Curves[0].Points)-1].Values[0]; got != 100*last.Share() {
		t.Errorf("the curve ends at %v, want %v", got, 100*last.Share())
	}
}

func TestPageNeedsAFinishedRun(t *testing.T) {
	dir := recorded(t)
	fatal.If(t, os.Remove(filepath.Join(dir, "done")))
	f := fatal.Get(report.OpenRun(dir))(t)
	fatal.Says(t, page.Write(t.Context(), io.Discard, "x", []*report.Folder{f}, page.Options{}), "no finished run")
}

// A run that two folders have is one run, and a dark screen gets the dark figures.
func TestPageOfTwoFolders(t *testing.T) {
	dir := recorded(t)
	var both []*report.Folder
	for range 2 {
		f := fatal.Get(report.OpenRun(dir))(t)
		both = append(both, f)
	}
	var b bytes.Buffer
	fatal.If(t, page.Write(t.Context(), &b, "twice", both, page.Options{}))
	if html := b.String(); !strings.Contains(html, "1 finished run.") || strings.Count(html, "<td>run</td>") != 1 {
		t.Error("the run is there twice")
	}
	for _, want := range []string{`<img class="light" src="data:image/svg`, `<img class="dark" src="data:image/svg`, "@media screen and (prefers-color-scheme:dark){"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

// The matrix of many classes is folded away below the worst of them.
func TestPageOfManyClasses(t *testing.T) {
	var classes []string
	for i := range 150 {
		classes = append(classes, fmt.Sprint("class ", i))
	}
	dir := recorded(t)
	l := calibration.Labelled{Logits: [][]float32{make([]float32, 150)}, Class: []int{7}}
	c := &calibration.Calibration{Source: calibration.NewFit(1.5, 1, l, l), Best: 1, Classes: classes, Confusion: calibration.Confuse(l, 150)}
	fatal.If(t, c.Write(dir))
	html := write(t, dir, page.Options{})
	for _, want := range []string{"<summary>The whole matrix</summary>", "<th>150 class 149</th>", `<td>class 7</td><td>class 0</td><td class="n">0 of 1</td>`, `<th class="n">150</th>`} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// Of a study the tables come first, and of the runs the first of every method.
func TestPageOfAStudy(t *testing.T) {
	f := fatal.Get(report.Open("../../../notebooks/results/glyphs"))(t)
	var b bytes.Buffer
	fatal.If(t, page.Write(t.Context(), &b, "study", []*report.Folder{f}, page.Options{Runs: 3, Pictures: 4}))
	html := b.String()
	tables, all, runs := strings.Index(html, "Methods on glyphs"), strings.Index(html, "<details><summary>All "), strings.Index(html, "Queried images")
	if tables < 0 || all < tables || runs < all {
		t.Errorf("tables at %d, the list of runs at %d, the first run at %d", tables, all, runs)
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`<p>([^<]+) on glyphs, target`).FindAllStringSubmatch(html, -1) {
		shown[m[1]] = true
	}
	if len(shown) != 3 {
		t.Errorf("runs of %d methods, want 3", len(shown))
	}
}
