package studio

import (
	"fmt"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/internal/fatal"
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

func (w *witness) port() string { return w.URL[strings.LastIndex(w.URL, ":")+1:] }

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

// Where a request goes, and with what: the token to Label Studio's /data/ alone, everything
// else nowhere unless it is allowed.
func TestForgedRequests(t *testing.T) {
	p := open(t)
	studio, other := newWitness(t), newWitness(t)
	back := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "there.png") {
				png.Encode(w, image.NewGray(image.Rect(0, 0, 5, 5)))
				return
			}
			http.Redirect(w, r, to, http.StatusFound)
		}
	}
	_, name, _ := strings.Cut(other.URL, "127.0.0.1")
	for _, c := range []struct {
		title, address string
		allow          []string
		tell, tellsToo http.HandlerFunc // of Label Studio, of the other server
		studio, other  string
	}{
		{"a file of Label Studio", "/data/upload/1/x.png", nil, nil, nil, "/data/upload/1/x.png Token key", ""},
		{"the same with its host", studio.URL + "/data/upload/1/x.png", nil, nil, nil, "/data/upload/1/x.png Token key", ""},
		{"outside /data/", studio.URL + "/api/users/x.png", nil, nil, nil, "", ""},
		{"outside /data/ by dots", studio.URL + "/data/../api/users/x.png", nil, nil, nil, "", ""},
		{"outside /data/ by escaped dots", studio.URL + "/data/%2e%2e/api/users/x.png", nil, nil, nil, "", ""},
		{"outside /data/ by an escaped slash", "/data/..%2fapi/users/x.png", nil, nil, nil, "", ""},
		{"outside /data/ by dots escaped twice", "/data/%252e%252e/api/users/x.png", nil, nil, nil, "", ""},
		{"outside /data/ by a backslash", `/data/..\\api/x.png`, nil, nil, nil, "", ""},
		{"with a user", strings.Replace(studio.URL, "//", "//me:secret@", 1) + "/data/x.png", nil, nil, nil, "", ""},
		{"another port of the loopback", other.URL + "/x.png", nil, nil, nil, "", ""},
		{"the loopback by its name", "http://localhost" + name + "/x.png", nil, nil, nil, "", ""},
		{"a name that resolves to the loopback", "http://localhost" + name + "/x.png", []string{"localhost" + name}, nil, nil, "", ""},
		{"the loopback as a number", "http://2130706433" + name + "/x.png", []string{"2130706433" + name}, nil, nil, "", ""},
		{"the loopback in IPv6", "http://[::ffff:127.0.0.1]" + name + "/x.png", []string{"localhost" + name}, nil, nil, "", ""},
		{"an allowed address", other.URL + "/x.png", []string{"127.0.0.1" + name}, nil, nil, "", "/x.png "},
		{"an allowed name in an allowed network", "http://localhost" + name + "/x.png", []string{"localhost" + name, "127.0.0.0/8", "::1"}, nil, nil, "", "/x.png "},
		{"another port of an allowed host", other.URL + "/x.png", []string{"127.0.0.1"}, nil, nil, "", ""},
		{"a file", "file:///etc/passwd", nil, nil, nil, "", ""},
		{"no scheme", "//127.0.0.1" + name + "/x.png", []string{"127.0.0.1" + name}, nil, nil, "", ""},
		{"a redirect to another port", "/data/x.png", nil, back(other.URL + "/there.png"), nil, "/data/x.png Token key", ""},
		{"a redirect to an allowed host", "/data/x.png", []string{"127.0.0.1" + name}, back(other.URL + "/there.png"), nil, "/data/x.png Token key", "/there.png "},
		{"a redirect within /data/", "/data/x.png", nil, back("/data/there.png"), nil, "/data/x.png Token key; /data/there.png ", ""},
		{"a redirect out of /data/", "/data/x.png", nil, back("/api/there.png"), nil, "/data/x.png Token key", ""},
		{"a redirect to a metadata service", "/data/x.png", nil, back("http://169.254.169.254/latest/there.png"), nil, "/data/x.png Token key", ""},
		{"a redirect for ever", "/data/x.png", nil, back("/data/x.png"), nil, "/data/x.png Token key" + strings.Repeat("; /data/x.png ", maxRedirects), ""},
		{"an allowed host that redirects to Label Studio", other.URL + "/x.png", []string{"127.0.0.1" + name}, nil, back(studio.URL + "/data/there.png"), "", "/x.png "},
		{"an allowed host that redirects to the loopback", other.URL + "/x.png", []string{"127.0.0.1" + name}, nil, back("http://127.0.0.1:1/there.png"), "", "/x.png "},
	} {
		t.Run(c.title, func(t *testing.T) {
			p.o.Address, p.o.Allow = studio.URL, c.allow
			studio.reset(c.tell)
			other.reset(c.tellsToo)
			p.start(t.TempDir())
			p.post("/"+token+"/predict", predictOf(strings.ReplaceAll(c.address, `\\`, `\`)))
			if got := studio.received(); got != c.studio {
				t.Errorf("Label Studio received %q, want %q", got, c.studio)
			}
			if got := other.received(); got != c.other {
				t.Errorf("the other server received %q, want %q", got, c.other)
			}
		})
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

// Answers are the same for an open port, a closed one, and a missing file.
func TestErrorsTellNothing(t *testing.T) {
	p := open(t)
	other := newWitness(t)
	other.reset(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "other", http.StatusTeapot) })
	l := fatal.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, closed, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	for _, allow := range [][]string{nil, {"127.0.0.1:" + closed, "127.0.0.1:" + other.port()}} {
		p.o.Allow = allow
		p.start(t.TempDir())
		replies := make(map[string]bool)
		for _, port := range []string{closed, other.port()} {
			_, reply := p.post("/"+token+"/webhook", webhookOf("http://127.0.0.1:"+port+"/x.png"))
			replies[strings.ReplaceAll(reply, port, "PORT")] = true
		}
		if len(replies) != 1 {
			t.Errorf("allowed %q: %v", allow, replies)
		}
	}
}

// With basic authentication every request needs the user and the password.
func TestBasicAuthentication(t *testing.T) {
	p := open(t)
	p.o.User, p.o.Password = "ann", "only here"
	p.start(t.TempDir())
	for user, want := range map[*url.Userinfo]int{nil: 401, url.UserPassword("ann", "x"): 401, url.UserPassword("bob", "only here"): 401, url.UserPassword("ann", "only here"): 200} {
		u := fatal.Get(url.Parse(p.server.URL + "/" + token + "/health"))(t)
		u.User = user
		reply := fatal.Get(http.Get(u.String()))(t)
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("%v: %d, want %d", user, reply.StatusCode, want)
		}
	}
	p.o.Password = ""
	if _, err := New(t.Context(), p.o); err == nil {
		t.Error("a user without a password is taken")
	}
}

func TestAllowRefuses(t *testing.T) {
	for _, a := range []string{"", "http://x", "a/b", "a b", "me@host", "10.0.0.0/33", "host:port"} {
		if _, err := newReach("", []string{a}); err == nil {
			t.Errorf("%q is taken", a)
		}
	}
	for _, a := range []string{"localhost:8080/x", "ftp://host", "http://", "http://me:x@host", "http://host/?q"} {
		if _, err := newReach(a, nil); err == nil {
			t.Errorf("Label Studio at %q is taken", a)
		}
	}
}
