package studio

import (
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// witness is a server that records its requests and replies with an image or a specified reply.
type witness struct {
	*httptest.Server
	mu   sync.Mutex
	got  []string // path and Authorization
	tell http.HandlerFunc
}

func newWitness(t *testing.T) *witness {
	w := &witness{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.got = append(w.got, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		tell := w.tell
		w.mu.Unlock()
		if tell != nil {
			tell(out, r)
			return
		}
		png.Encode(out, image.NewGray(image.Rect(0, 0, 5, 5)))
	}))
	t.Cleanup(w.Close)
	return w
}

// reset forgets what was received, and sets how to answer.
func (w *witness) reset(tell http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got, w.tell = nil, tell
}

func (w *witness) received() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.got, "; ")
}

const twoClasses = `<View><Image name=\"i\" value=\"$a\"/><Choices name=\"c\" toName=\"i\"><Choice value=\"cat\"/><Choice value=\"dog\"/></Choices></View>`

// predictOf is a request for predictions of tasks with these addresses.
func predictOf(addresses ...string) string {
	var tasks []string
	for i, a := range addresses {
		tasks = append(tasks, fmt.Sprintf(`{"id":%d,"data":{"a":%q}}`, i, a))
	}
	return fmt.Sprintf(`{"tasks":[%s],"project":"2.7","label_config":"%s"}`, strings.Join(tasks, ","), twoClasses)
}

// webhookOf is the webhook of an annotation of the task with an address.
func webhookOf(address string) string {
	return fmt.Sprintf(`{"action":"ANNOTATION_CREATED","project":{"id":2,"created_at":"2026-01-01T00:00:00Z","label_config":"%s"},"task":{"id":4,"data":{"a":%q}},"annotation":{"id":9,"task":4,"completed_by":1,"result":[{"from_name":"c","type":"choices","value":{"choices":["cat"]}}]}}`, twoClasses, address)
}

// Where a request goes, and with what: the token to Label Studio's /data/ alone, and nothing to any
// other address.
func TestForgedRequests(t *testing.T) {
	p := open(t)
	studio, other := newWitness(t), newWitness(t)
	back := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	_, name, _ := strings.Cut(other.URL, "127.0.0.1")
	for _, c := range []struct {
		title, address string
		tell           http.HandlerFunc // of Label Studio
		studio         string
	}{
		{"a file of Label Studio", "/data/upload/1/x.png", nil, "/data/upload/1/x.png Token key"},
		{"the same with its host", studio.URL + "/data/upload/1/x.png", nil, "/data/upload/1/x.png Token key"},
		{"outside /data/", studio.URL + "/api/users/x.png", nil, ""},
		{"outside /data/ by dots", studio.URL + "/data/../api/users/x.png", nil, ""},
		{"outside /data/ by escaped dots", studio.URL + "/data/%2e%2e/api/users/x.png", nil, ""},
		{"outside /data/ by an escaped slash", "/data/..%2fapi/users/x.png", nil, ""},
		{"outside /data/ by dots escaped twice", "/data/%252e%252e/api/users/x.png", nil, ""},
		{"outside /data/ by a backslash", `/data/..\api/x.png`, nil, ""},
		{"with a user", strings.Replace(studio.URL, "//", "//me:secret@", 1) + "/data/x.png", nil, ""},
		{"another port of the loopback", other.URL + "/data/x.png", nil, ""},
		{"the loopback by its name", "http://localhost" + name + "/data/x.png", nil, ""},
		{"the loopback as a number", "http://2130706433" + name + "/data/x.png", nil, ""},
		{"the loopback in IPv6", "http://[::ffff:127.0.0.1]" + name + "/data/x.png", nil, ""},
		{"a file", "file:///etc/passwd", nil, ""},
		{"no scheme", "//127.0.0.1" + name + "/data/x.png", nil, ""},
		{"a redirect to another port", "/data/x.png", back(other.URL + "/there.png"), "/data/x.png Token key"},
		{"a redirect within /data/", "/data/x.png", back("/data/there.png"), "/data/x.png Token key"},
		{"a redirect to a metadata service", "/data/x.png", back("http://169.254.169.254/latest/there.png"), "/data/x.png Token key"},
	} {
		t.Run(c.title, func(t *testing.T) {
			p.o.Address = studio.URL
			studio.reset(c.tell)
			p.start(t.TempDir())
			p.post("/"+token+"/predict", predictOf(strings.ReplaceAll(c.address, `\\`, `\`)))
			if got := studio.received(); got != c.studio {
				t.Errorf("Label Studio received %q, want %q", got, c.studio)
			}
			if got := other.received(); got != "" {
				t.Errorf("the other server received %q", got)
			}
		})
	}
}

// Files of a Label Studio below a path are below that path.
func TestBelowAPath(t *testing.T) {
	r := fatal.Get(newReach("http://shared/studio"))(t)
	for address, want := range map[string]string{
		"/data/x.png":                         "http://shared/studio/data/x.png",
		"/studio/data/x.png":                  "http://shared/studio/data/x.png",
		"http://shared/studio/data/x.png":     "http://shared/studio/data/x.png",
		"http://shared/data/x.png":            "",
		"http://shared/other/data/x.png":      "",
		"http://shared/studio2/data/x.png":    "",
		"http://shared/studio/api/data/x.png": "",
	} {
		got := ""
		if u, err := r.file(address); err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}

// A personal token is exchanged for a short one at Label Studio alone, and is not carried
// over a redirect of that.
func TestPersonalToken(t *testing.T) {
	p := open(t)
	studio, other := newWitness(t), newWitness(t)
	studio.reset(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	p.o.Address, p.o.Key = studio.URL, "a.b.c"
	p.start(t.TempDir())
	p.post("/"+token+"/predict", predictOf("/data/x.png"))
	if studio.received() != "/api/token/refresh " || other.received() != "" {
		t.Errorf("Label Studio received %q, the other server %q", studio.received(), other.received())
	}
}

// A request names no host that receives a token: neither the operator's nor its own.
func TestSetupNamesAHost(t *testing.T) {
	p := open(t)
	studio, other := newWitness(t), newWitness(t)
	setup := fmt.Sprintf(`{"project":"2.7","schema":"%s","hostname":"%s","access_token":"theirs"}`, twoClasses, other.URL)
	for _, c := range []struct{ address, key, want string }{
		{"", "", ""},
		{studio.URL, "", "/api/projects/2/export?exportType=JSON&download_all_tasks=true Token theirs"},
		{studio.URL, "mine", "/api/projects/2/export?exportType=JSON&download_all_tasks=true Token mine"},
	} {
		studio.reset(nil)
		other.reset(nil)
		p.o.Address, p.o.Key = c.address, c.key
		p.start(t.TempDir())
		p.post("/"+token+"/setup", setup)
		if studio.received() != c.want || other.received() != "" {
			t.Errorf("%+v: Label Studio received %q, the host of the request %q", c, studio.received(), other.received())
		}
	}
	p.o.Address, p.o.Key = "", "mine"
	fatal.Says(t, fatal.Err(New(t.Context(), p.o)), "LABEL_STUDIO_URL")
	studio.reset(nil)
	p.o.Address = studio.URL
	p.start(t.TempDir())
	for _, project := range []string{"..", "../users", "2/../../users", "%2e%2e", "-1"} {
		p.post("/"+token+"/setup", strings.Replace(setup, "2.7", project, 1))
	}
	if got := studio.received(); got != "" {
		t.Errorf("project numbers that are none: Label Studio received %q", got)
	}
}

func TestAddressRefused(t *testing.T) {
	for _, a := range []string{"localhost:8080/x", "ftp://host", "http://", "http://me:x@host", "http://host/?q"} {
		if _, err := newReach(a); err == nil {
			t.Errorf("Label Studio at %q is taken", a)
		}
	}
}
