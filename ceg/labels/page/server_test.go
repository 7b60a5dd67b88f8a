package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/image/tiff"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/scaletest"
)

// window is a client of the page as a program.
type window struct {
	tb            testing.TB
	address, name string
}

// view is what a window shows.
type view struct {
	Question *struct{ ID, Rev, Domain, Said, File string }
	Next     []string
	N        struct{ Total, Open, Answered, Unsure, Skipped, Bad int }
	ByDomain [][2]int
	Undo     bool
	Redo     bool
}

func (w window) get(path string, args url.Values, into any) int {
	w.tb.Helper()
	args.Set("client", w.name)
	reply, err := http.Get(w.address + path + "?" + args.Encode())
	if err != nil {
		w.tb.Fatal(err)
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		w.tb.Fatal(err)
	}
	if into != nil && reply.StatusCode == http.StatusOK {
		if err := json.Unmarshal(data, into); err != nil {
			w.tb.Fatalf("%s: %v: %s", path, err, data)
		}
	}
	return reply.StatusCode
}

func (w window) view() (v view) {
	w.tb.Helper()
	if status := w.get("view", url.Values{}, &v); status != http.StatusOK {
		w.tb.Fatalf("view: status %d", status)
	}
	return v
}

// act sends an act, and returns the status, the view that follows and the notice.
func (w window) act(body map[string]any) (int, view, string) {
	w.tb.Helper()
	body = maps.Clone(body)
	body["client"] = w.name
	data, err := json.Marshal(body)
	if err != nil {
		w.tb.Fatal(err)
	}
	reply, err := http.Post(w.address+"act", "application/json", bytes.NewReader(data))
	if err != nil {
		w.tb.Fatal(err)
	}
	defer reply.Body.Close()
	var out struct {
		View   view
		Notice string
	}
	json.NewDecoder(reply.Body).Decode(&out)
	return reply.StatusCode, out.View, out.Notice
}

// say answers a question, and returns the view that follows.
func (w window) say(v view, op, class string) view {
	w.tb.Helper()
	body := map[string]any{"op": op, "id": v.Question.ID, "rev": v.Question.Rev, "seconds": 1.5}
	if class != "" {
		body["class"] = class
	}
	status, next, notice := w.act(body)
	if status != http.StatusOK || notice != "" {
		w.tb.Fatalf("%s of %s: status %d, %s", op, v.Question.ID, status, notice)
	}
	return next
}

// A hundred windows at once lose no answer and answer nothing twice.
func TestHundredWindows(t *testing.T) {
	root := images(t, 10, 20) // 800 images
	d := folder(t, root)
	dir := t.TempDir()
	_, address := serve(t, options(t, d, root, dir, animals))
	var mu sync.Mutex
	said := make(map[string]string)
	late := 0
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			w := window{t, address, fmt.Sprintf("w%d", n)}
			for v := w.view(); v.Question != nil; {
				q := *v.Question
				var status int
				status, v, _ = w.act(map[string]any{"op": "answer", "id": q.ID, "rev": q.Rev, "class": animals[n%10]})
				mu.Lock()
				switch {
				case status == http.StatusOK && said[q.ID] != "" && said[q.ID] != animals[n%10]:
					t.Errorf("%s was taken as %s and as %s", q.ID, said[q.ID], animals[n%10])
				case status == http.StatusOK:
					said[q.ID] = animals[n%10]
				case status == http.StatusConflict:
					late++
				default:
					t.Errorf("%s: status %d", q.ID, status)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	st := state(t, dir)
	if len(said) != d.Len() || st.Last() != int64(d.Len()) {
		t.Errorf("%d of %d images have answers in %d events", len(said), d.Len(), st.Last())
	}
	for id, class := range said {
		if im := st.Image(id); im.Class != class {
			t.Errorf("%s is %q in the ledger, but %q was confirmed", id, im.Class, class)
		}
	}
	t.Logf("%d answers were refused since another window was first", late)
}

// Two windows get different images; an answer to what was answered meanwhile is
// refused, and one that is sent again because its reply was lost is taken once.
func TestTwoWindows(t *testing.T) {
	root := images(t, 2, 2)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	_, address := serve(t, o)
	a, b := window{t, address, "a"}, window{t, address, "b"}
	va, vb := a.view(), b.view()
	if va.Question.ID == vb.Question.ID || slices.Contains(va.Next, vb.Question.ID) {
		t.Errorf("both windows have %s", vb.Question.ID)
	}
	if len(va.Next) < 3 || len(va.Next) > 5 {
		t.Errorf("%d images are loaded ahead", len(va.Next))
	}
	if v := a.view(); v.Question.ID != va.Question.ID || !slices.Equal(v.Next, va.Next) {
		t.Error("a window that asks again gets other images")
	}
	first := map[string]any{"op": "answer", "id": va.Question.ID, "rev": va.Question.Rev, "class": "ant"}
	for range 2 { // a lost reply
		if status, _, _ := a.act(first); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	first["class"] = "bear"
	if status, v, notice := b.act(first); status != http.StatusConflict || !strings.Contains(notice, "ant") || v.Question == nil {
		t.Errorf("status %d, notice %q", status, notice)
	}
	st := state(t, dir)
	if st.Last() != 1 || st.Image(va.Question.ID).Class != "ant" {
		t.Errorf("%d events, %+v", st.Last(), st.Image(va.Question.ID))
	}
	// Another program answers what a window shows.
	if _, err := o.Ledger.Append(labels.Event{Kind: labels.Answered, ID: vb.Question.ID, Class: "cat", By: "bob"}); err != nil {
		t.Fatal(err)
	}
	if status, _, notice := b.act(map[string]any{"op": "skip", "id": vb.Question.ID, "rev": vb.Question.Rev}); status != http.StatusOK || notice != "" {
		t.Errorf("skipping what is answered: status %d, %q", status, notice)
	}
	if im := state(t, dir).Image(vb.Question.ID); im.Class != "cat" || im.By != "bob" {
		t.Errorf("it is %+v", im)
	}
}

// Skip, unsure and bad, undo and redo of each, and going through them again.
func TestStates(t *testing.T) {
	root := images(t, 2, 1) // 8 images
	d := folder(t, root)
	dir := t.TempDir()
	_, address := serve(t, options(t, d, root, dir, animals))
	w := window{t, address, "w"}
	v := w.view()
	shown := make(map[string]string)
	for _, op := range []string{"skip", "unsure", "bad"} {
		id := v.Question.ID
		shown[op] = id
		v = w.say(v, op, "")
		_, undone, _ := w.act(map[string]any{"op": "undo"})
		if undone.Question.ID != id || undone.N.Open != 8-len(shown)+1 || !undone.Redo {
			t.Errorf("after undo of %s: %+v", op, undone)
		}
		_, again, _ := w.act(map[string]any{"op": "redo"})
		if again.Question.ID != v.Question.ID || again.Redo {
			t.Errorf("after redo of %s: %+v", op, again)
		}
	}
	for v.Question != nil {
		v = w.say(v, "answer", "bear")
	}
	if v.N.Total != 8 || v.N.Answered != 5 || v.N.Skipped != 1 || v.N.Unsure != 1 || v.N.Bad != 1 || v.N.Open != 0 {
		t.Errorf("in the end: %+v", v.N)
	}
	for _, state := range []string{"skipped", "unsure"} {
		_, v, _ = w.act(map[string]any{"op": "again", "state": state})
		if v.Question == nil || v.Question.Said != state {
			t.Fatalf("again: %+v", v.Question)
		}
		if v = w.say(v, "skip", ""); v.Question != nil { // it stays as it is
			t.Errorf("after passing over the %s image: %+v", state, v.Question)
		}
		_, v, _ = w.act(map[string]any{"op": "again", "state": state})
		v = w.say(v, "answer", "ant")
	}
	if v.N.Answered != 7 || v.N.Skipped+v.N.Unsure != 0 {
		t.Errorf("after going through them: %+v", v.N)
	}
	// Look again at an answer, and correct it.
	var fixed view
	w.get("view", url.Values{"id": {shown["skip"]}}, &fixed)
	if fixed.Question.ID != shown["skip"] || fixed.Question.Said != "ant" {
		t.Fatalf("looking again: %+v", fixed.Question)
	}
	w.say(fixed, "answer", "cat")
	st := state(t, dir)
	if e, _ := st.Event(st.Last()); e.Kind != labels.Corrected || e.Class != "cat" || e.Seconds != 1.5 {
		t.Errorf("the last event is %+v", e)
	}
	var list struct{ Items []struct{ ID, Said string } }
	w.get("list", url.Values{"state": {"answered"}, "n": {"3"}}, &list)
	if len(list.Items) != 3 || list.Items[0].ID != shown["skip"] || list.Items[0].Said != "cat" {
		t.Errorf("the list begins with %+v", list.Items)
	}
}

// A page of the grid is one act, sets aside what is not of the class, and goes by
// sureness.
func TestGrid(t *testing.T) {
	root := images(t, 3, 10) // 120 images
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	o.Guesses = make(map[string]page.Guess)
	for i, e := range d.Examples {
		o.Guesses[e.ID] = page.Guess{Class: classOf(e.ID), Probability: float64(i%100) / 100}
	}
	_, address := serve(t, o)
	w, other := window{t, address, "w"}, window{t, address, "other"}
	type grid struct {
		Class string
		Items []map[string]any
	}
	var g, h grid
	if status := w.get("grid", url.Values{"n": {"12"}}, &g); status != http.StatusOK || len(g.Items) != 12 {
		t.Fatalf("status %d, %d images", status, len(g.Items))
	}
	other.get("grid", url.Values{"n": {"12"}}, &h)
	for i, it := range g.Items {
		id := it["id"].(string)
		if classOf(id) != g.Class {
			t.Errorf("%s is among the guesses of %s", id, g.Class)
		}
		if i > 0 && it["probability"].(float64) > g.Items[i-1]["probability"].(float64) {
			t.Error("the surest do not come first")
		}
		if slices.ContainsFunc(h.Items, func(x map[string]any) bool { return x["id"] == id }) {
			t.Errorf("two windows have %s on their pages", id)
		}
	}
	var items []map[string]any
	for i, it := range g.Items {
		class := g.Class
		switch i {
		case 0:
			class = ""
		case 1:
			class = "jay"
		}
		items = append(items, map[string]any{"id": it["id"], "rev": it["rev"], "class": class})
	}
	if _, v, notice := w.act(map[string]any{"op": "page", "items": items, "seconds": 11}); notice != "" || v.N.Answered != 11 {
		t.Errorf("%q, %d answers", notice, v.N.Answered)
	}
	var next grid
	w.get("grid", url.Values{"n": {"30"}}, &next)
	for _, it := range next.Items {
		if it["id"] == g.Items[0]["id"] {
			t.Error("what was set aside is there again")
		}
	}
	if im := state(t, dir).Image(g.Items[1]["id"].(string)); im.Class != "jay" {
		t.Errorf("the other class is %q", im.Class)
	}
	if _, v, notice := w.act(map[string]any{"op": "undo"}); v.N.Answered != 0 || !strings.Contains(notice, "11 answers") {
		t.Errorf("undone: %q, %d answers left", notice, v.N.Answered)
	}
	if _, v, _ := w.act(map[string]any{"op": "redo"}); v.N.Answered != 11 {
		t.Errorf("redone: %d answers", v.N.Answered)
	}
	// A page in which something was answered meanwhile loses nothing of either side.
	if _, v, notice := w.act(map[string]any{"op": "page", "items": items[1:]}); notice != "" && !strings.Contains(notice, "left as they are") || v.N.Answered != 11 {
		t.Errorf("the same page again: %q, %d answers", notice, v.N.Answered)
	}
}

// Requests that are not the page's own get nothing and write nothing.
func TestHostile(t *testing.T) {
	root := images(t, 2, 2)
	outside := filepath.Join(t.TempDir(), "secret.png")
	writePNG(t, outside)
	if err := os.Symlink(outside, filepath.Join(root, "photo", "0", "link.png")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	inside := filepath.Join(root, "photo", "0", "inside.png")
	if err := os.Symlink("0000.png", inside); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(root, "photo", "0", "later.png")
	writePNG(t, later)
	d := folder(t, root)
	// An image that was one when the folder was read.
	if err := os.Remove(later); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, later); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, address := serve(t, options(t, d, root, dir, animals))
	w := window{t, address, "w"}
	q := w.view().Question
	good := fmt.Sprintf(`{"client":"w","op":"answer","id":%q,"rev":%q,"class":"ant"}`, q.ID, q.Rev)
	path := s.Path()
	origin := strings.TrimSuffix(address, path)
	at, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"Content-Type": "application/json"}
	with := func(more ...string) map[string]string {
		m := maps.Clone(own)
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	cases := []struct {
		what, method, path, host string
		header                   map[string]string
		body                     string
		want                     int
	}{
		{"no token", "GET", "/", "", nil, "", 404},
		{"no token, act", "POST", "/act", "", own, good, 404},
		{"a wrong token", "GET", "/AAAAAAAAAAAAAAAAAAAAAAAAAA/", "", nil, "", 404},
		{"half the token", "GET", path[:10] + "/", "", nil, "", 404},
		{"the token without the slash", "GET", strings.TrimSuffix(path, "/"), "", nil, "", 404},
		{"a foreign host, as DNS rebinding has", "GET", path + "setup", "evil.example:" + at.Port(), nil, "", 403},
		{"a foreign host, act", "POST", path + "act", "evil.example:" + at.Port(), with("Origin", "http://evil.example:"+at.Port()), good, 403},
		{"a host that begins like ours", "GET", path + "setup", "localhost.evil.example", nil, "", 403},
		{"a foreign origin", "POST", path + "act", "", with("Origin", "http://evil.example"), good, 403},
		{"the null origin", "POST", path + "act", "", with("Origin", "null"), good, 403},
		{"our host at another port", "POST", path + "act", "", with("Origin", "http://127.0.0.1:1"), good, 403},
		{"a foreign origin, reading", "GET", path + "view?client=w", "", map[string]string{"Origin": "http://evil.example"}, "", 403},
		{"an image in a foreign page", "GET", path + "image?id=" + url.QueryEscape(q.ID), "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, "", 403},
		{"a foreign form", "POST", path + "act", "", map[string]string{"Content-Type": "text/plain"}, good, 415},
		{"a form", "POST", path + "act", "", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, good, 415},
		{"a request of a foreign site", "POST", path + "act", "", with("Sec-Fetch-Site", "same-site"), good, 403},
		{"writing by GET", "GET", path + "act", "", own, good, 405},
		{"writing by PUT", "PUT", path + "act", "", own, good, 405},
		{"deleting", "DELETE", path + "act", "", own, good, 405},
		{"OPTIONS of a foreign site", "OPTIONS", path + "act", "", map[string]string{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}, "", 403},
		{"a class that there is not", "POST", path + "act", "", own, strings.Replace(good, `"ant"`, `"<script>"`, 1), 400},
		{"a class with a newline", "POST", path + "act", "", own, strings.Replace(good, `"ant"`, `"ant\nbear"`, 1), 400},
		{"no class", "POST", path + "act", "", own, strings.Replace(good, `"ant"`, `""`, 1), 400},
		{"an ID that there is not", "POST", path + "act", "", own, strings.Replace(good, `"`+q.ID, `"photo/0/none.png`, 1), 404},
		{"an ID that climbs", "POST", path + "act", "", own, strings.Replace(good, `"`+q.ID, `"photo/../`+q.ID, 1), 404},
		{"an op that there is not", "POST", path + "act", "", own, strings.Replace(good, `"op":"answer"`, `"op":"delete"`, 1), 400},
		{"an unknown field", "POST", path + "act", "", own, strings.Replace(good, `"op"`, `"by":"eve","op"`, 1), 400},
		{"no client", "POST", path + "act", "", own, strings.Replace(good, `"client":"w"`, `"client":""`, 1), 400},
		{"a client with a newline", "POST", path + "act", "", own, strings.Replace(good, `"client":"w"`, `"client":"w\n"`, 1), 400},
		{"no JSON", "POST", path + "act", "", own, "op=answer", 400},
		{"two requests in one", "POST", path + "act", "", own, good + good, 400},
		{"a long request", "POST", path + "act", "", own, strings.Replace(good, `"ant"`, `"`+strings.Repeat("a", 2<<20)+`"`, 1), 400},
		{"negative seconds", "POST", path + "act", "", own, strings.Replace(good, `"op"`, `"seconds":-1,"op"`, 1), 400},
		{"a page of too many", "POST", path + "act", "", own, `{"client":"w","op":"page","items":[` + strings.TrimSuffix(strings.Repeat(`{"id":"","rev":"","class":""},`, 300), ",") + `]}`, 400},
		{"a page with an unknown class", "POST", path + "act", "", own, fmt.Sprintf(`{"client":"w","op":"page","items":[{"id":%q,"rev":%q,"class":"yak"}]}`, q.ID, q.Rev), 400},
		{"stop, where nobody may", "POST", path + "stop", "", own, "", 404},
		{"a path that climbs", "GET", path + "../../../../etc/passwd", "", nil, "", 404},
		{"an encoded path that climbs", "GET", path + "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "", nil, "", 404},
		{"a static file that climbs", "GET", path + "static/page.html", "", nil, "", 404},
		{"an image that climbs", "GET", path + "image?id=" + url.QueryEscape("../../../../etc/passwd"), "", nil, "", 404},
		{"an image by an absolute path", "GET", path + "image?id=" + url.QueryEscape(outside), "", nil, "", 404},
		{"an image with a zero byte", "GET", path + "image?id=" + url.QueryEscape(q.ID) + "%00.png", "", nil, "", 404},
		{"a link out of the folder", "GET", path + "image?id=" + url.QueryEscape("photo/0/link.png"), "", nil, "", 404},
		{"an image that became a link out", "GET", path + "image?id=" + url.QueryEscape("photo/0/later.png"), "", nil, "", 422},
		{"a thumb of it", "GET", path + "thumb?id=" + url.QueryEscape("photo/0/later.png"), "", nil, "", 422},
		{"a link that stays inside", "GET", path + "image?id=" + url.QueryEscape("photo/0/inside.png"), "", nil, "", 200},
		{"the ledger", "GET", path + "labels.jsonl", "", nil, "", 404},
		{"a grid without end", "GET", path + "grid?client=w&n=100000", "", nil, "", 400},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			r, err := http.NewRequest(c.method, origin, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			target, query, _ := strings.Cut(c.path, "?")
			r.URL.Opaque, r.URL.RawQuery = target, query // as it is, dots and all
			if c.host != "" {
				r.Host = c.host
			}
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			reply, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer reply.Body.Close()
			data, _ := io.ReadAll(reply.Body)
			if reply.StatusCode != c.want && !(c.want == 404 && reply.StatusCode == 307) {
				t.Errorf("status %d, want %d: %.100s", reply.StatusCode, c.want, data)
			}
			if (c.want == 403 || c.want == 415) && len(data) > 0 {
				t.Errorf("it gets %q", data)
			}
			if !strings.Contains(reply.Header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Error("the reply has no policy")
			}
			if reply.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("the reply lets others read it")
			}
		})
	}
	if st := state(t, dir); st.Last() != 0 {
		e, _ := st.Event(1)
		t.Errorf("%d events were written, the first is %+v", st.Last(), e)
	}
	// And the page's own request is taken.
	r, _ := http.NewRequest("POST", address+"act", strings.NewReader(good))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if st := state(t, dir); reply.StatusCode != 200 || st.Last() != 1 {
		t.Errorf("the page's own request: status %d, %d events", reply.StatusCode, st.Last())
	}
}

// writePNG writes some picture.
func writePNG(t *testing.T, file string) {
	t.Helper()
	d, _, err := datasets.Glyphs(datasets.GlyphsConfig{PerClass: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Image(0)
	if err != nil {
		t.Fatal(err)
	}
	save(t, file, m.ToImage())
}

// Names that are markup, formulas or no text are names; pictures that browsers do not
// know are shown; damaged ones are told.
func TestStrangeImages(t *testing.T) {
	root := images(t, 1, 1)
	names := []string{"=cmd|'calc'!A0.png", "<script>alert(1)<\\script>.png", "a,b\n\"c\".png", "per%20cent&id=x#.png", "naïve ☃.png"}
	for _, n := range names {
		writePNG(t, filepath.Join(root, "photo", "0", n))
	}
	wide := image.NewRGBA(image.Rect(0, 0, 2400, 600))
	for x := range 2400 {
		for y := range 600 {
			wide.Set(x, y, color.RGBA{uint8(x / 10), uint8(y / 3), 80, 255})
		}
	}
	f, err := os.Create(filepath.Join(root, "photo", "0", "scan.tif"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tiff.Encode(f, wide, nil); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(filepath.Join(root, "photo", "0", "cut.png"), []byte("\x89PNG\r\n\x1a\nno more than this"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := folder(t, root)
	dir := t.TempDir()
	_, address := serve(t, options(t, d, root, dir, animals))
	w := window{t, address, "w"}
	seen := 0
	for v := w.view(); v.Question != nil; seen++ {
		reply, err := http.Get(address + "image?" + url.Values{"id": {v.Question.ID}}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		m, kind, err := image.Decode(reply.Body)
		reply.Body.Close()
		switch v.Question.File {
		case "cut.png":
			if reply.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("a damaged image: status %d", reply.StatusCode)
			}
		case "scan.tif":
			if err != nil || kind != "jpeg" || m.Bounds().Dx() != 1600 || m.Bounds().Dy() != 400 {
				t.Errorf("the TIFF is %s, %v, %v", kind, m.Bounds(), err)
			}
		default:
			if err != nil || kind != "png" {
				t.Errorf("%q: %s, %v", v.Question.ID, kind, err)
			}
		}
		v = w.say(v, "answer", "ant")
	}
	if seen != d.Len() {
		t.Errorf("%d images were shown, want %d", seen, d.Len())
	}
	st := state(t, dir)
	for _, n := range names {
		if im := st.Image("photo/0/" + n); im.Class != "ant" {
			t.Errorf("%q is %+v", n, im)
		}
	}
}

// Of a run that asks, only the questions are shown, in their order, with the guesses
// that came with them; an image that was answered elsewhere is not shown.
func TestQuestionsOfARun(t *testing.T) {
	root := images(t, 2, 3)
	d := folder(t, root)
	o := options(t, d, root, t.TempDir(), animals)
	o.Rest = false
	var asked []labels.Question
	for _, i := range []int{5, 2, 9} {
		asked = append(asked, labels.Question{ID: d.Examples[i].ID, Asking: &labels.Asking{Guess: "bear", Probability: 0.5}})
	}
	if _, err := o.Ledger.Ask("run", 3, asked); err != nil {
		t.Fatal(err)
	}
	_, address := serve(t, o)
	w := window{t, address, "w"}
	v := w.view()
	if v.N.Total != 3 || v.Question.ID != asked[0].ID || len(v.Next) != 2 || v.Next[0] != asked[1].ID {
		t.Fatalf("%+v %+v", v, v.Question)
	}
	var g struct {
		Class       string
		Probability float64
	}
	w.get("guess", url.Values{"id": {asked[0].ID}}, &g)
	if g.Class != "bear" || g.Probability != 0.5 {
		t.Errorf("the guess is %+v", g)
	}
	if _, err := o.Ledger.Append(labels.Event{Kind: labels.Answered, ID: asked[1].ID, Class: "ant", By: "bob"}); err != nil {
		t.Fatal(err)
	}
	if v = w.say(v, "answer", "bear"); v.Question == nil || v.Question.ID != asked[2].ID {
		t.Errorf("then %+v is shown, want %s", v.Question, asked[2].ID)
	}
	if v = w.say(v, "answer", "ant"); v.Question != nil || v.N.Answered != 3 {
		t.Errorf("in the end %+v", v)
	}
	// A dispute is asked about by a rule that asks.
	var status int
	if status, v, _ = w.act(map[string]any{"op": "answer", "id": d.Examples[0].ID, "rev": "0.0.-1", "class": "ant"}); status != http.StatusOK || v.N.Answered != 4 {
		t.Errorf("an image that nobody asked about: status %d, %+v", status, v.N)
	}
}

// The page opens at once, and an answer is on the disk at once, in a pool of a million
// images (with LEDG_SCALE=1000000) of which a tenth is answered. On 2 cores of an AMD
// EPYC, shared with other work, a million images (n = 100 of each, -benchtime 100x) took
// 1.0 to 1.4 ms to open, 0.8 to 2.9 ms to answer and 0.5 to 1.4 ms to undo, on the mean.
func BenchmarkServer(b *testing.B) {
	for _, n := range scaletest.Sizes(b) {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark(b, n) })
	}
}

func benchmark(b *testing.B, n int) {
	examples := make([]datasets.Example, n)
	for i := range examples {
		examples[i] = datasets.Example{ID: fmt.Sprintf("camera/%07d.jpg", i)}
	}
	d, _, err := datasets.NewGenerated("many", []string{"camera"}, animals, examples, make([]int, n),
		func(int) (*rgb.Image, error) { return rgb.New(64, 64), nil }, "many")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	o := options(b, d, "", dir, animals)
	var events []labels.Event
	for i := range n / 10 {
		events = append(events, labels.Event{Kind: labels.Answered, ID: examples[i].ID, Class: animals[i%10], By: "bob"})
	}
	if _, err := o.Ledger.Append(events...); err != nil {
		b.Fatal(err)
	}
	_, address := serve(b, o)
	within := func(b *testing.B, limit time.Duration) {
		b.Helper()
		if mean := b.Elapsed() / time.Duration(b.N); mean > limit {
			b.Errorf("it takes %v, want at most %v", mean, limit)
		}
	}
	b.Run("open", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			w := window{b, address, fmt.Sprintf("open%d", i)}
			for _, path := range []string{"", "page.css", "page.js", "setup"} {
				if status := w.get(path, url.Values{}, nil); status != http.StatusOK {
					b.Fatal(path, status)
				}
			}
			if status := w.get("image", url.Values{"id": {w.view().Question.ID}}, nil); status != http.StatusOK {
				b.Fatal(status)
			}
		}
		within(b, time.Second)
	})
	acts := 0
	b.Run("answer", func(b *testing.B) {
		w := window{b, address, "answer"}
		v := w.view()
		for b.Loop() {
			if v.Question == nil {
				b.Skip("all images are answered")
			}
			v = w.say(v, "answer", "ant")
			acts++
		}
		within(b, 20*time.Millisecond)
	})
	b.Run("undo", func(b *testing.B) {
		w := window{b, address, "undo"}
		for b.Loop() {
			if acts--; acts < 0 {
				b.Skip("nothing is left to undo")
			}
			if status, _, _ := w.act(map[string]any{"op": "undo"}); status != http.StatusOK {
				b.Fatal(status)
			}
		}
		within(b, 20*time.Millisecond)
	})
}
