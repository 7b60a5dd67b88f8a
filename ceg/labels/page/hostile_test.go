package page_test

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"golang.org/x/image/tiff"
)

// Requests that are not the page's own get nothing and write nothing.
func TestHostile(t *testing.T) {
	root := images(t, 2, 2)
	outside := filepath.Join(t.TempDir(), "secret.png")
	writePNG(t, outside)
	if err := os.Symlink(outside, filepath.Join(root, "photo", "0", "link.png")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	inside := filepath.Join(root, "photo", "0", "inside.png")
	fatal.If(t, os.Symlink("0000.png", inside))
	later := filepath.Join(root, "photo", "0", "later.png")
	writePNG(t, later)
	d := folder(t, root)
	// An image that was one when the folder was read.
	fatal.If(t, os.Remove(later))
	fatal.If(t, os.Symlink(outside, later))
	dir := t.TempDir()
	s, address := serve(t, options(t, d, root, dir, animals))
	w := window{t, address, "w"}
	q := w.view().Question
	good := fmt.Sprintf(`{"client":"w","op":"label","id":%q,"rev":%q,"class":"ant"}`, q.ID, q.Rev)
	path := s.Path("ann")
	origin := strings.TrimSuffix(address, path)
	at := fatal.Get(url.Parse(origin))(t)
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
		{"a script of another page of this host", "GET", path + "view?client=w", "", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, "", 403},
		{"a link in a foreign page", "GET", path, "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "", 200},
		{"a form of a foreign page", "POST", path + "act", "", with("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), good, 403},
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
		{"an op that there is not", "POST", path + "act", "", own, strings.Replace(good, `"op":"label"`, `"op":"delete"`, 1), 400},
		{"an unknown field", "POST", path + "act", "", own, strings.Replace(good, `"op"`, `"by":"eve","op"`, 1), 400},
		{"no client", "POST", path + "act", "", own, strings.Replace(good, `"client":"w"`, `"client":""`, 1), 400},
		{"a client with a newline", "POST", path + "act", "", own, strings.Replace(good, `"client":"w"`, `"client":"w\n"`, 1), 400},
		{"no JSON", "POST", path + "act", "", own, "op=answer", 400},
		{"two requests in one", "POST", path + "act", "", own, good + good, 400},
		{"a long request", "POST", path + "act", "", own, strings.Replace(good, `"ant"`, `"`+strings.Repeat("a", 2<<20)+`"`, 1), 400},
		{"negative seconds", "POST", path + "act", "", own, strings.Replace(good, `"op"`, `"seconds":-1,"op"`, 1), 400},
		{"a page of too many", "POST", path + "act", "", own, `{"client":"w","op":"page","items":[` + strings.TrimSuffix(strings.Repeat(`{"id":"","rev":"","class":""},`, 300), ",") + `]}`, 400},
		{"a page with a class and none", "POST", path + "act", "", own, fmt.Sprintf(`{"client":"w","op":"page","items":[{"id":%q,"rev":%q,"class":%q,"none":true}]}`, q.ID, q.Rev, animals[0]), 400},
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
			r := fatal.Get(http.NewRequest(c.method, origin, strings.NewReader(c.body)))(t)
			target, query, _ := strings.Cut(c.path, "?")
			r.URL.Opaque, r.URL.RawQuery = target, query // as it is, dots and all
			if c.host != "" {
				r.Host = c.host
			}
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			reply := fatal.Get(http.DefaultTransport.RoundTrip(r))(t)
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
	reply := fatal.Get(http.DefaultClient.Do(r))(t)
	reply.Body.Close()
	if st := state(t, dir); reply.StatusCode != 200 || st.Last() != 1 {
		t.Errorf("the page's own request: status %d, %d events", reply.StatusCode, st.Last())
	}
}

// writePNG writes some picture.
func writePNG(t *testing.T, file string) {
	t.Helper()
	d, _ := fatal.Get2(datasets.Glyphs(1))(t)
	m := fatal.Get(d.Image(0))(t)
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
	f := fatal.Get(os.Create(filepath.Join(root, "photo", "0", "scan.tif")))(t)
	fatal.If(t, tiff.Encode(f, wide, nil))
	f.Close()
	fatal.If(t, os.WriteFile(filepath.Join(root, "photo", "0", "cut.png"), []byte("\x89PNG\r\n\x1a\nno more than this"), 0o666))
	d := folder(t, root)
	dir := t.TempDir()
	_, address := serve(t, options(t, d, root, dir, animals))
	w := window{t, address, "w"}
	seen := 0
	for v := w.view(); v.Question != nil; seen++ {
		reply := fatal.Get(http.Get(address + "image?" + url.Values{"id": {v.Question.ID}}.Encode()))(t)
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
		v = w.say(v, "label", "ant")
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
