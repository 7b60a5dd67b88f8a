package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/exchange"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

const token = "SECRET"

// fake is a model that knows the classes of two images, and what it was shown.
type fake struct{ seen []string }

func (*fake) Version() string { return "fake 1" }

func (f *fake) Predict(_ context.Context, ids []string) (list []Prediction, _ error) {
	f.seen = append(f.seen, ids...)
	for _, id := range ids {
		if id == "north/1.png" {
			list = append(list, Prediction{Class: "cat", Probability: 0.75, Score: 0.25})
		} else {
			list = append(list, Prediction{Class: "dog", Probability: 0.5, Score: 0})
		}
	}
	return list, nil
}

// place is a data set of a few images, its ledger, a server for them, and Label Studio as
// far as the server calls it.
type place struct {
	t        *testing.T
	root     string
	o        Options
	server   *httptest.Server
	studio   *httptest.Server
	s        *Server
	model    *fake
	trained  int
	requests []string // of Label Studio
	export   string

	mu  sync.Mutex
	log []string
}

// record is a request that Label Studio 1.23.2 has made, or its export.
type record struct {
	Path   string
	Body   json.RawMessage
	Export json.RawMessage
}

func recorded(t *testing.T) []record {
	t.Helper()
	text, err := os.ReadFile("testdata/recorded.json")
	var list []record
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func open(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, root: filepath.Join(t.TempDir(), "photos"), model: &fake{}}
	for i, id := range []string{"north/1.png", "north/2.png", "south/2.png", "south/3.jpg"} {
		path := filepath.Join(p.root, filepath.FromSlash(id))
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		m := image.NewGray(image.Rect(0, 0, 4, 4))
		m.SetGray(1, 1, color.Gray{Y: uint8(40 * (i + 1))})
		if strings.HasSuffix(id, "jpg") {
			err = jpeg.Encode(f, m, nil)
		} else {
			err = png.Encode(f, m)
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	d, _ := fatal.Get2(datasets.Open("folder", p.root, datasets.Options{Classes: []string{"cat", "dog"}}))(t)
	p.studio = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r.URL.RequestURI())
		p.mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Token key":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/data/upload/2/d5e17122-2.png":
			http.ServeFile(w, r, filepath.Join(p.root, "south/2.png"))
		case r.URL.Path == "/data/upload/2/00000000-3.jpg":
			http.ServeFile(w, r, filepath.Join(p.root, "south/3.jpg"))
		case r.URL.Path == "/data/upload/2/11111111-1.png":
			png.Encode(w, image.NewGray(image.Rect(0, 0, 3, 3)))
		case r.URL.Path == "/api/projects/2/export" && p.export != "":
			io.WriteString(w, p.export)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(p.studio.Close)
	p.o = Options{Data: d, Classes: d.Classes, Token: token, Address: p.studio.URL, Key: "key",
		Digests: func() ([]string, error) { return datasets.Digests(t.Context(), d, t.TempDir()) },
		Model:   func() Model { return p.model }, Train: func() string { p.trained++; return "it trains" }, Changed: func() {},
		Log: func(format string, args ...any) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.log = append(p.log, fmt.Sprintf(format, args...))
		}}
	p.start(t.TempDir())
	return p
}

// start begins with a ledger in a folder, as a new process does.
func (p *place) start(dir string) {
	p.t.Helper()
	l, err := labels.Open(dir, p.o.Classes, labels.Options{Domain: func(id string) (string, bool) {
		_, ok := p.o.Data.Index(id)
		return "", ok
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { l.Close() })
	p.o.Ledger = l
	if p.s, err = New(p.t.Context(), p.o); err != nil {
		p.t.Fatal(err)
	}
	p.server = httptest.NewServer(p.s)
	p.t.Cleanup(p.server.Close)
}

// post sends a request and returns the answer, once what it began has ended.
func (p *place) post(path, body string) (status int, response string) {
	p.t.Helper()
	reply, err := http.Post(p.server.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	p.s.work.Wait()
	return reply.StatusCode, strings.TrimSpace(string(text))
}

// holds is what the ledger says, "image=class" or the status.
func (p *place) holds() string {
	var list []string
	p.o.Ledger.View(func(s *labels.State) {
		for v := range s.Images() {
			if v.Class != "" {
				list = append(list, v.ID+"="+v.Class+" by "+v.By)
			} else {
				list = append(list, v.ID+" "+v.Status.String())
			}
		}
	})
	return strings.Join(list, "; ")
}

func (p *place) last() (n int64) {
	p.o.Ledger.View(func(s *labels.State) { n = s.Last() })
	return n
}

// What Label Studio has sent, in its order: each request twice, as it is when an answer was
// lost, and each by a new process.
func TestRecorded(t *testing.T) {
	p := open(t)
	dir := filepath.Dir(p.o.Ledger.Path())
	const one, two, three = "north/1.png=cat by label-studio user 1", "north/2.png skipped", "south/2.png=dog by label-studio user 1"
	after := []string{"", "", one, one + "; " + two, one + "; " + two + "; " + three, "north/1.png=dog by label-studio user 1; " + two + "; " + three,
		"north/1.png unasked; " + two + "; " + three, "north/1.png unasked; " + two + "; " + three}
	for i, r := range recorded(t)[:len(after)] {
		for range 2 {
			status, response := p.post("/"+token+"/"+r.Path, string(r.Body))
			if status != http.StatusOK {
				t.Fatalf("request %d, %s: %d %s", i, r.Path, status, response)
			}
			if got := p.holds(); got != after[i] {
				t.Fatalf("after request %d, %s: %s\nwant %s", i, r.Path, got, after[i])
			}
			if want := `{"results":[{"model_version":"fake 1","score":0.25,"result":[{"from_name":"animal","to_name":"picture","type":"choices","score":0.75,"value":{"choices":["cat"]}}]},`; r.Path == "predict" && !strings.HasPrefix(response, want) {
				t.Errorf("predictions %s", response)
			}
			p.start(dir)
		}
	}
	if got := fmt.Sprint(p.model.seen[:3]); got != "[north/1.png north/2.png south/2.png]" {
		t.Errorf("the model was shown %s", got)
	}
	if p.trained != 2 || p.last() != 6 { // four answers, and two acts of one annotation that are undone
		t.Errorf("trained %d times, %d events", p.trained, p.last())
	}
}

// A process that did not run takes over from the API what was answered meanwhile, and takes
// back what was deleted, once.
func TestCatchUp(t *testing.T) {
	p := open(t)
	list := recorded(t)
	p.export = string(list[len(list)-1].Export)
	// It heard of the annotation that was deleted, and nothing else.
	if status, response := p.post("/"+token+"/webhook", string(list[2].Body)); status != http.StatusOK {
		t.Fatal(response)
	}
	const want = "north/1.png unasked; north/2.png skipped; south/2.png=dog by label-studio user 1"
	for range 2 {
		if status, response := p.post("/"+token+"/setup", string(list[0].Body)); status != http.StatusOK || response != `{"model_version":"fake 1"}` {
			t.Fatal(response)
		}
		if got := p.holds(); got != want || p.last() != 4 {
			t.Errorf("%d events: %s\nwant %s; log %q", p.last(), got, want, p.log)
		}
		p.start(filepath.Dir(p.o.Ledger.Path()))
	}
}

// Uploads are known by their bytes, and what cannot be read or is none of the run's is said and left
// empty.
func TestImages(t *testing.T) {
	p := open(t)
	const config = `<View><Image name=\"i\" value=\"$a\"/><Choices name=\"c\" toName=\"i\"><Choice value=\"dog\"/><Choice value=\"x\" alias=\"cat\"/></Choices></View>`
	for _, c := range []struct{ data, seen, log string }{
		{`{"a":"/data/upload/2/00000000-3.jpg"}`, "south/3.jpg", ""},
		{`{"a":"/data/upload/2/11111111-1.png"}`, "", "is no image of the run"}, // not north/1.png, of the same name
		{`{"a":"/data/upload/2/22222222-1.png"}`, "north/1.png", ""},            // no such upload
		{`{"a":"x","ledg_id":"south/2.png"}`, "south/2.png", ""},
		{`{"a":"x","ledg_id":"north/2.png"}`, "north/2.png", ""}, // whatever the task before said
		{`{"a":"x"}`, "", "is no image of the run"},
		{`{"a":"/data/local-files/?d=photos/north/1.png","ledg_id":"north/2.png"}`, "", "its address is that of north/1.png"},
		{`{"a":"/data/local-files/?d=photos/north/1.png"}`, "north/1.png", ""},
		{`{"a":"/data/local-files/?d=east/1.png"}`, "", "is no image of the run"},
		{`{"a":"x","ledg_id":"north/2.png","ledg_sha256":"00"}`, "", "is no image of the run"},
		{`{"a":"/data/local-files/?d=elsewhere/9.png"}`, "", "answers 404"},
		{`{"a":"/data/../api/users/9.png"}`, "", "not below /data/"},
		{`{"a":"file:///etc/passwd"}`, "", "no file of Label Studio"},
		{`{"b":"/data/x.png"}`, "", `no address of an image as "a"`},
		{`{"a":["x.png","y.png"]}`, "", `no address of an image as "a"`},
	} {
		p.model.seen, p.log = nil, nil
		status, response := p.post("/"+token+"/predict", fmt.Sprintf(`{"project":"2.7","label_config":"%s","tasks":[{"id":5,"data":%s}]}`, config, c.data))
		seen := strings.Join(p.model.seen, " ")
		log := strings.Join(p.log, "\n")
		if status != http.StatusOK || seen != c.seen || !strings.Contains(log, c.log) || c.log == "" && log != "" || (c.log != "") != strings.Contains(response, `"result":[]`) {
			t.Errorf("%s: %d %s, seen %q, log %s", c.data, status, response, seen, log)
		}
	}
	for _, address := range p.requests {
		if !strings.HasPrefix(address, "/data/upload/") && !strings.HasPrefix(address, "/data/local-files/") {
			t.Errorf("Label Studio was asked for %s", address)
		}
	}
}

// Bad requests get one line, which the log has too, and change nothing.
func TestRefused(t *testing.T) {
	p := open(t)
	p.export = "[]"
	config := func(inner string) string {
		text, _ := json.Marshal("<View>" + inner + "</View>")
		return string(text)
	}
	const picture, right = `<Image name="i" value="$a"/>`, `<Choices name="c" toName="i"><Choice value="cat"/><Choice value="dog"/></Choices>`
	labelled := func(class ...string) string {
		text, _ := json.Marshal(class)
		return fmt.Sprintf(`{"action":"ANNOTATION_CREATED","project":{"id":2,"created_at":"2026-01-01T00:00:00Z","label_config":%s},"task":{"id":4,"data":{"a":"north/1.png"}},"annotation":{"id":9,"task":4,"completed_by":1,"updated_at":"2026-01-02T00:00:00Z","result":[{"from_name":"c","type":"choices","value":{"choices":%s}}]}}`,
			config(picture+right), text)
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/WRONG/predict", "{}", 401, "wrong token"},
		{"/predict", "{}", 401, "wrong token"},
		{"/" + token + "/../x", "{}", 401, "wrong token"},
		{"/" + token + "/train", "{}", 404, ""},
		{"/" + token + "/health", "{}", 405, ""},
		{"/" + token + "/setup", "{", 422, "the request cannot be read"},
		{"/" + token + "/webhook", "[]", 422, "the request cannot be read: its value (array) is not taken"},
		{"/" + token + "/setup", `{"project":{}}`, 422, "the request cannot be read: its project (object) is not taken"},
		{"/" + token + "/setup", `{"project":"2.7","schema":` + config("<Text name='t'/>") + `}`, 422, "project 2.7: the labelling config has no Image"},
		{"/" + token + "/setup", `{"project":"2.7","schema":` + config(picture) + `}`, 422, "no Choices about an Image"},
		{"/" + token + "/setup", `{"project":"2.7","schema":` + config(picture+strings.Replace(right, "cat", "cow", 1)) + `}`, 422, `the choices of \"c\" are cow, dog, and the run's classes cat, dog: want the same`},
		{"/" + token + "/setup", `{"project":"2.7","schema":"<View"}`, 422, "the labelling config cannot be read"},
		{"/" + token + "/predict", `{"project":"2.7","label_config":` + config(picture) + `,"tasks":[]}`, 422, "no Choices"},
		{"/" + token + "/webhook", labelled("cow"), 422, `task 4: class \"cow\" is none of cat, dog`},
		{"/" + token + "/webhook", labelled("cat", "dog"), 422, "has 2 choices, want one"},
		{"/" + token + "/webhook", labelled(), 422, "has 0 choices, want one"},
		{"/" + token + "/webhook", strings.Replace(labelled("cat"), `"id":9`, `"id":"x"`, 1), 422, "the annotation cannot be read: its id (string) is not taken"},
		{"/" + token + "/webhook", strings.Replace(labelled("cat"), `"result":[`, `"lead_time":"x","result":[`, 1), 422, "its lead_time (string) is not taken"},
		{"/" + token + "/webhook", strings.Replace(labelled("cat"), "north/1.png", "north/9.png", 1), 422, "no image of the run"},
		{"/" + token + "/webhook", `{"action":"PROJECT_UPDATED"}`, 200, "ignored"},
		{"/" + token + "/webhook", `{"action":"` + strings.Repeat("x", maxNotice) + `"}`, 413, "too large"},
	} {
		p.log = nil
		status, response := p.post(c.path, c.body)
		if len(c.body) > 2000 {
			c.body = c.body[:100]
		}
		if status != c.status || !strings.Contains(response, c.want) || strings.Contains(response, "\n") {
			t.Errorf("%s %s: %d %s, want %d %s", c.path, c.body, status, response, c.status, c.want)
		}
		if want := status != 200 && status != 404 && status != 405; want != (len(p.log) == 1 && !strings.Contains(p.log[0], "\n")) {
			t.Errorf("%s %s: log %q", c.path, c.body, p.log)
		}
	}
	if p.last() != 0 {
		t.Errorf("the ledger has %d events", p.last())
	}
	if status, response := p.post("/"+token+"/webhook", labelled("cat")); status != 200 || p.holds() != "north/1.png=cat by label-studio user 1" {
		t.Errorf("%d %s: %s", status, response, p.holds())
	}
}

// Each task without a prediction adds a line to the log, up to a bound.
func TestLogIsBounded(t *testing.T) {
	p := open(t)
	tasks := make([]string, 1000)
	for i := range tasks {
		tasks[i] = fmt.Sprintf(`{"id":%d,"data":{"a":"http://127.0.0.1:1/none%d.png"}}`, i, i)
	}
	config := `"<View><Image name='i' value='$a'/><Choices name='c' toName='i'><Choice value='cat'/><Choice value='dog'/></Choices></View>"`
	status, response := p.post("/"+token+"/predict", fmt.Sprintf(`{"project":"2.7","label_config":%s,"tasks":[%s]}`, config, strings.Join(tasks, ",")))
	if status != 200 {
		t.Fatalf("%d %.200s", status, response)
	}
	if len(p.log) != mostLines+1 || !strings.Contains(p.log[mostLines], "1000 tasks have no prediction") {
		t.Errorf("%d lines, the last %q", len(p.log), p.log[len(p.log)-1])
	}
}

// The choice "None of these" beside the classes is taken, and an annotation with it has no class.
func TestNoneOfThese(t *testing.T) {
	classes := []string{"cat", "dog"}
	c := fatal.Get(readConfig(exchange.StudioConfig(classes), classes))(t)
	e, err := c.event([]byte(`{"id":1,"created_at":"2026-01-02T03:04:05Z","result":[{"from_name":"label","to_name":"image","type":"choices","value":{"choices":["None of these"]}}]}`), "a.png", "1", classes)
	if err != nil || e.Kind != labels.None || e.Class != "" {
		t.Errorf("%+v, %v", e, err)
	}
}
