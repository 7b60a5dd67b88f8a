package page_test

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/report/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// photographed makes a finished run of a folder of images with a number of epochs of given
// accuracies, and the images, in a directory with a space and a quote in its name.
func photographed(t *testing.T, target string, accuracy []result.Accuracy, k *artifact.Artifact) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ann's run")
	root := filepath.Join(t.TempDir(), "photos")
	c := fatal.Get(config.Resolve(config.Spec{Dataset: "folder", Target: target, Budget: "4", Epochs: 1, Set: map[string]any{"exploration.oracle": "ask", "data.classes": k.Classes}}))(t)
	d := fatal.Get(result.Open(dir, c, result.Place{}, false))(t)
	defer d.Close()
	for i := range 8 {
		m := image.NewGray(image.Rect(0, 0, 12, 12))
		m.SetGray(1, 1, color.Gray{Y: uint8(20 * i)})
		for _, domain := range k.Domains {
			fatal.If(t, os.MkdirAll(filepath.Join(root, domain), 0o777))
			f, err := os.Create(filepath.Join(root, domain, string(rune('0'+i))+".png"))
			if err == nil {
				err = png.Encode(f, m)
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	fatal.If(t, d.WritePlace(result.Place{Root: root}))
	rec := result.Record{Labels: 4, Accuracy: accuracy}
	choices := fatal.Get(result.Choose([]result.Record{rec}))(t)
	queries := []result.Query{{ID: "day/0.png", Domain: "day", Class: "cat"}, {ID: "day/1.png", Domain: "day", Class: "cat"},
		{ID: "dusk/0.png", Domain: "dusk", Class: "dog"}, {ID: "dusk/1.png", Domain: "dusk", Class: "dog"}}
	fatal.If(t, d.AppendRecord(rec))
	fatal.If(t, d.AppendQueries(queries))
	fatal.If(t, d.WriteFile(artifact.File, k.Write))
	res := result.Result{Format: result.Format, Method: c.Method, Dataset: "folder", Target: target, Preset: string(c.Preset), Seed: c.Seed, Epochs: 1,
		Pool: 16, Budget: 4, Labels: 4, Classes: k.Classes, ValLabels: choices.LastEpoch.SourceVal.Total, Accuracy: choices}
	if !choices.Measured() {
		res.Note = "there is no target"
	}
	fatal.If(t, d.Finish(res))
	return dir
}

// reads checks what the page of a run says, in one line of text, and that nothing is cut off
// on a phone.
func reads(t *testing.T, dir string, want, not []string) string {
	t.Helper()
	html := write(t, dir, page.Options{})
	for _, w := range want {
		if !strings.Contains(html, w) {
			t.Errorf("no %q", w)
		}
	}
	short, _, _ := strings.Cut(html, "For researchers")
	for _, w := range append(not, "oracle", "round 0", "Round 0") {
		if strings.Contains(short, w) {
			t.Errorf("there is %q", w)
		}
	}
	return html
}

// A run that measured nothing says so, and has a page.
func TestShortOfNothingMeasured(t *testing.T) {
	k := &artifact.Artifact{Domains: []string{"day", "dusk"}, Classes: []string{"cat", "dog", "cow"}, Dim: 1, Features: make([]float32, 4)}
	for i := range 6 {
		k.CountPrediction(datasets.Example{ID: "day/" + string(rune('2'+i)) + ".png"}, []float32{float32(i), 0, 0})
	}
	html := reads(t, photographed(t, config.NoTarget, []result.Accuracy{}, k), []string{
		"It predicts which of 3 classes an image shows: cat, dog, cow.", "It was trained with labels of 4 of 16 images, from 2 sites: day, dusk.",
		"Its accuracy is unknown", "There are no labels of cow, so it is never predicted.",
		"dog is rarely predicted: for 0 of 6 unlabelled images, though 2 of 4 labels are dog.",
		"<b>cat, confidence 33%</b>", "What to do next", "<span>extend</span>", "<span>--budget</span> <span>14</span>", "so no accuracy is measured",
	}, []string{"Where, the worst first", "What it gets wrong"})
	if n := strings.Count(html, "data:image/jpeg"); n != 6+4 { // least sure, and queried
		t.Errorf("%d pictures, want 10", n)
	}
	if !strings.Contains(html, "ann&#39;\\&#39;&#39;s</span> <span>run&#39;") {
		t.Error("the run's name is not quoted for a shell")
	}
}

// With an estimate alone the headline is that of sites that are left out.
func TestShortOfAnEstimate(t *testing.T) {
	l := audit.Labelled{Classes: []int{0, 0, 1, 1, 0, 1, 0, 1}, Domains: []int{0, 0, 0, 0, 1, 1, 1, 1}, ClassNames: []string{"cat", "dog"}, DomainNames: []string{"day", "dusk"}}
	e := fatal.Get(audit.Cross(l, func([]int) (func([]int) []int, error) { // says cat of all
		return func(test []int) []int { return make([]int, len(test)) }, nil
	}))(t)
	e.Chosen = "maxherding"
	k := &artifact.Artifact{Domains: []string{"day", "dusk"}, Classes: l.ClassNames, Dim: 1, Features: make([]float32, 4), Estimate: e,
		Missed: []artifact.Missed{{ID: "dusk/3.png", Class: 1, Seen: 0}}}
	reads(t, photographed(t, config.NoTarget, []result.Accuracy{}, k), []string{
		"<strong>50%</strong> correct (4 of 8), each of the 2 sites left out in turn (cross-validation)",
		"50% on more images of the training sites, by cross-validation",
		"have no interval: the labels were chosen by maxherding and are no random sample",
		"<th>site left out</th>", `<td>day</td><td class="n">2 of 4</td><td class="n">50%</td>`,
		"<th>class, cross-validated</th>", `<td>dog</td><td>cat</td><td class="n">0 of 4</td>`,
		"Labelled images that a classifier of the other labels assigns to another class", "<b>dog</b><span>predicted</span><b>cat</b>",
	}, []string{"weakest", "By site and class", "expect:"}) // those need a measurement of the trained model
	// Beside validation images the page has both numbers, as the commands have.
	reads(t, photographed(t, config.NoTarget, []result.Accuracy{{Domain: "day", Split: result.ValSplit, Tally: result.Tally{Correct: 3, Total: 4}}}, k), []string{
		"50% on more images of the training sites, by cross-validation", "on 4 validation images of the training sites"}, nil)
}

// newSite makes the report of a new site.
func newSite(t *testing.T) (html string) {
	t.Helper()
	k := &artifact.Artifact{Domains: []string{"day", "dusk", "night"}, Classes: []string{"cat", "dog"}, Dim: 1, Features: make([]float32, 4)}
	add := func(domain, class, seen, n int, sure float32) {
		for i := range n {
			e := datasets.Example{ID: k.Domains[domain] + "/" + string(rune('0'+i%8)) + ".png", Domain: domain}
			if domain < 2 {
				e.Split = datasets.Val
			}
			k.Measured, k.Class = append(k.Measured, e), append(k.Class, class)
			logits := []float32{0, 0}
			logits[seen] = sure
			k.Logits = append(k.Logits, logits...)
		}
	}
	add(0, 0, 0, 7, 1)
	add(0, 1, 0, 1, 9) // surer, but of a site that was learned from
	add(2, 0, 0, 30, 1)
	add(2, 1, 0, 29, 2)
	add(2, 1, 1, 1, 2)
	dir := photographed(t, "night", []result.Accuracy{
		{Domain: "day", Split: result.ValSplit, Tally: result.Tally{Correct: 7, Total: 8}},
		{Domain: "night", Split: result.TestSplit, Tally: result.Tally{Correct: 31, Total: 60}}}, k)
	return reads(t, dir, []string{
		"from 2 sites: day, dusk.", "<strong>52%</strong> correct on night, a site held out of training: 31 of 60 images. Expect 39 to 64% (95% interval) on more images of that site.",
		"88% (95% interval 53 to 98%) on 8 validation images of the training sites.",
		"It is weakest on the site night (31 of 60 correct) and on the class dog (1 of 30 correct, mostly confused with cat).",
		"The classes differ: the accuracy is 0 to 17% on dog and 88 to 100% on cat.",
		`<td>night</td><td>held out</td><td class="n">31 of 60</td><td class="n">39 to 64%</td>`,
		"The most confident errors",
	}, []string{"Nobody knows", "the target"})
}

// With a new site it is the site's report, errors first.
func TestShortOfANewSite(t *testing.T) {
	html := newSite(t)
	if i, j := strings.Index(html, `alt="night/`), strings.Index(html, `alt="day/`); i < 0 || j >= 0 && j < i {
		t.Error("what is wrong on the new site does not come first")
	}
}
