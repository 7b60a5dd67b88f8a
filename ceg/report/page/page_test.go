package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/calibration"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/report/page"
)

const hostile = `<script>alert("x")</script>`

// recorded is a copy of a run of notebooks/results, with a hostile class.
func recorded(t *testing.T) string {
	t.Helper()
	list, err := filepath.Glob("../../../notebooks/results/glyphs/glyphs-cartoon-ceg-authors-5pct-s1-*")
	if err != nil || len(list) != 1 {
		t.Fatalf("%d runs (%v)", len(list), err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(list[0])); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "queries.csv")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(b), "\n", 3)
	f := strings.Split(lines[1], ",")
	f[3] = `"` + strings.ReplaceAll(hostile, `"`, `""`) + `"`
	lines[1] = strings.Join(f, ",")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	l := calibration.Labelled{Logits: [][]float32{{2, 0}, {1, 0}, {0, 3}}, Class: []int{0, 1, 1}}
	c := &calibration.Calibration{Source: calibration.NewFit(1.5, 3, l, l), Best: 1, Classes: []string{"a&b", hostile}, Confusion: calibration.Confuse(l, 2)}
	if err := c.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, dir string, o page.Options) string {
	t.Helper()
	f, err := report.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.Write(t.Context(), &b, "title "+hostile, []*report.Folder{f}, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever a run's files say is text, and the page loads nothing.
func TestPageIsSelfContainedAndSafe(t *testing.T) {
	html := write(t, recorded(t), page.Options{})
	if len(html) > page.MaxBytes {
		t.Errorf("%d bytes", len(html))
	}
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
	for _, want := range []string{"Reliability", "Confusion on the target", "What was asked", "best source val", "&#34;seed&#34;: 1", "GoMLX", "prefers-color-scheme"} {
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

func TestPageNeedsAFinishedRun(t *testing.T) {
	dir := recorded(t)
	if err := os.Remove(filepath.Join(dir, "done")); err != nil {
		t.Fatal(err)
	}
	f, err := report.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Write(t.Context(), io.Discard, "x", []*report.Folder{f}, page.Options{}); err == nil || !strings.Contains(err.Error(), "no finished run") {
		t.Errorf("error %v", err)
	}
}

// A run that two folders have is one run, and a dark screen gets the dark figures.
func TestPageOfTwoFolders(t *testing.T) {
	dir := recorded(t)
	var both []*report.Folder
	for range 2 {
		f, err := report.OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, f)
	}
	var b bytes.Buffer
	if err := page.Write(t.Context(), &b, "twice", both, page.Options{}); err != nil {
		t.Fatal(err)
	}
	if html := b.String(); !strings.Contains(html, "1 finished run.") || strings.Count(html, "<td>run</td>") != 1 {
		t.Error("the run is there twice")
	}
	if !strings.Contains(b.String(), `<source media="screen and (prefers-color-scheme: dark)" srcset="data:image/svg&#43;xml;base64,`) {
		t.Error("no figure for dark screens")
	}
}

// Of a study the tables come first, and of the runs the first of every method.
func TestPageOfAStudy(t *testing.T) {
	f, err := report.Open("../../../notebooks/results/glyphs")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.Write(t.Context(), &b, "study", []*report.Folder{f}, page.Options{Runs: 3, Pictures: 4}); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	tables, all, runs := strings.Index(html, "Methods on glyphs"), strings.Index(html, "<details><summary>All "), strings.Index(html, "What was asked")
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
