package pypi

import (
	"context"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// place is a machine with some files, below a new folder that ROOT stands for, and environment variables.
func place(t *testing.T, files, env map[string]string) Place {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Place{Root: root, Home: filepath.Join(root, "home"),
		Getenv: func(name string) string { return strings.ReplaceAll(env[name], "ROOT", root) }}
}

func TestConfig(t *testing.T) {
	plain := Config{Indexes: []string{DefaultIndex}, Timeout: 15 * time.Second, Retries: 5}
	with := func(change func(*Config)) Config { c := plain; change(&c); return c }
	for _, tt := range []struct {
		name  string
		files map[string]string
		env   map[string]string
		want  Config
		err   string
	}{
		{name: "nothing", want: plain},
		{
			name: "what is closer counts",
			files: map[string]string{
				"etc/pip.conf":              "[global]\nindex-url = https://system/simple\ntimeout: 30\n",
				"home/.pip/pip.conf":        "[global]\nindex-url = https://legacy/simple\n",
				"home/.config/pip/pip.conf": "# ours\n[install]\nindex_url = https://user:secret@mirror/simple/\n[global]\nindex-url = https://global/simple\n",
			},
			want: with(func(c *Config) {
				c.Indexes, c.Timeout = []string{"https://user:secret@mirror/simple/"}, 30*time.Second
			}),
		},
		{
			name:  "the environment counts more",
			files: map[string]string{"venv/pip.conf": "[global]\nindex-url = https://venv/simple\nproxy = proxy:3128\n"},
			env:   map[string]string{"VIRTUAL_ENV": "ROOT/venv", "PIP_EXTRA_INDEX_URL": "https://a/simple https://b/simple", "PIP_CERT": "/c.pem", "PIP_DEFAULT_TIMEOUT": "180"},
			want: with(func(c *Config) {
				c.Indexes = []string{"https://venv/simple", "https://a/simple", "https://b/simple"}
				c.Proxy, c.Cert, c.Timeout = "http://proxy:3128", "/c.pem", 180*time.Second
			}),
		},
		{
			name:  "a value in several lines",
			files: map[string]string{"etc/xdg/pip/pip.conf": "[global]\nno-index = true\nfind-links =\n    /wheels\n    https://page/links\ntrusted-host = mirror\n"},
			want: with(func(c *Config) {
				c.Indexes, c.FindLinks, c.TrustedHosts = nil, []string{"/wheels", "https://page/links"}, []string{"mirror"}
			}),
		},
		{
			name: "a file of its own instead of the user's",
			files: map[string]string{
				"own.conf":                  "[global]\nindex-url = https://own/simple\n",
				"home/.config/pip/pip.conf": "[global]\nindex-url = https://user/simple\ncert = /user.pem\n",
			},
			env:  map[string]string{"PIP_CONFIG_FILE": "ROOT/own.conf", "REQUESTS_CA_BUNDLE": "/bundle.pem"},
			want: with(func(c *Config) { c.Indexes, c.Cert = []string{"https://own/simple"}, "/bundle.pem" }),
		},
		{
			name:  "no files at all",
			files: map[string]string{"etc/pip.conf": "[global]\nindex-url = https://system/simple\n"},
			env:   map[string]string{"PIP_CONFIG_FILE": os.DevNull},
			want:  plain,
		},
		{name: "not a configuration", files: map[string]string{"etc/pip.conf": "[global]\nindex-url\n"}, err: `etc/pip.conf, line 2: got "index-url", want KEY = VALUE`},
		{name: "not a URL", env: map[string]string{"PIP_INDEX_URL": "mirror/simple"}, err: `pip's index "mirror/simple" is not a URL`},
		{name: "not a number", env: map[string]string{"PIP_TIMEOUT": "soon"}, err: `pip's timeout is "soon"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := place(t, tt.files, tt.env).Config()
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got error %v, want %q in it", err, tt.err)
				}
				return
			}
			got.FindLinks, got.TrustedHosts = orNil(got.FindLinks), orNil(got.TrustedHosts)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

func orNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

const content = "a wheel"

var wanted = File{Project: "some-plugin", Name: "some_plugin-1.0-py3-none-any.whl",
	SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content))), Size: int64(len(content))}

// mirror serves pages and files by their paths. A page with type json is JSON.
func mirror(t *testing.T, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasPrefix(text, "{") {
			w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// serve has every page link to the wanted file.
func serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/") {
		fmt.Fprintf(w, `<a href="%s">it</a>`, wanted.Name)
		return
	}
	fmt.Fprint(w, content)
}

func fetch(t *testing.T, c Config, f File) (from, got string, err error) {
	t.Helper()
	client, err := NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	client.pause = time.Millisecond
	path := filepath.Join(t.TempDir(), "file")
	from, err = client.Fetch(context.Background(), f, path)
	text, readErr := os.ReadFile(path)
	if (readErr == nil) != (err == nil) {
		t.Errorf("error %v, and the file is there: %v", err, readErr == nil)
	}
	return from, string(text), err
}

func TestFetch(t *testing.T) {
	html := mirror(t, map[string]string{
		"/simple/some-plugin/":                `<html><a href="../../files/other.whl">other</a><A class=x HREF='../../files/` + wanted.Name + `#sha256=00'>it</A></html>`,
		"/files/" + wanted.Name:               content,
		"/escaped/some-plugin/":               `<a href="/files/` + wanted.Name + `?a=1&amp;b=2">it</a>`,
		"/changed/some-plugin/":               `<a href="` + wanted.Name + `">it</a>`,
		"/longer/some-plugin/":                `<a href="` + wanted.Name + `">it</a>`,
		"/shorter/some-plugin/":               `<a href="` + wanted.Name + `">it</a>`,
		"/without/some-plugin/":               `<a href="some_plugin-0.9-py3-none-any.whl">older</a>`,
		"/links":                              `<a href="/files/` + wanted.Name + `">it</a>`,
		"/json/some-plugin/":                  `{"files": [{"filename": "x", "url": "/x"}, {"filename": "` + wanted.Name + `", "url": "../../files/` + wanted.Name + `"}]}`,
		"/changed/some-plugin/" + wanted.Name: "A wheel",
		"/longer/some-plugin/" + wanted.Name:  "a wheel and more",
		"/shorter/some-plugin/" + wanted.Name: "a whee",
	})
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, wanted.Name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	index := func(names ...string) Config {
		c := Config{Timeout: 5 * time.Second, Retries: 1}
		for _, n := range names {
			c.Indexes = append(c.Indexes, html.URL+"/"+n)
		}
		return c
	}
	links := func(link string) Config { return Config{FindLinks: []string{link}, Timeout: 5 * time.Second} }
	file := html.URL + "/files/" + wanted.Name
	for _, tt := range []struct {
		name string
		c    Config
		from string
		err  string
	}{
		{name: "page", c: index("simple"), from: file},
		{name: "page with a slash", c: index("simple/"), from: file},
		{name: "JSON", c: index("json"), from: file},
		{name: "escaped", c: index("escaped"), from: file + "?a=1&b=2"},
		{name: "the second index has it", c: index("nothing", "simple"), from: file},
		{name: "the second index has the right one", c: index("changed", "simple"), from: file},
		{name: "folder", c: links(folder), from: filepath.Join(folder, wanted.Name)},
		{name: "folder as a URL", c: links("file://" + folder), from: filepath.Join(folder, wanted.Name)},
		{name: "page of links", c: links(html.URL + "/links"), from: file},
		{name: "not there", c: index("nothing"), err: html.URL + "/nothing/some-plugin/: 404 Not Found"},
		{name: "another version", c: index("without"), err: wanted.Name + ": it is not there"},
		{name: "changed", c: index("changed"), err: "its SHA-256 is "},
		{name: "longer", c: index("longer"), err: "its size is more than 7 bytes"},
		{name: "shorter", c: index("shorter"), err: "ends after 6 bytes of 7"},
		{name: "no index", c: Config{}, err: "names no index"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, got, err := fetch(t, tt.c, wanted)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want %q in it", err, tt.err)
				}
				return
			}
			if err != nil || from != tt.from || got != content {
				t.Errorf("got %q from %s, %v; want it from %s", got, from, err, tt.from)
			}
		})
	}
}

// A server that is busy or hangs up is asked again, and one that never answers is not asked for the next file.
func TestFetchAgain(t *testing.T) {
	var requests atomic.Int32 // on one connection after another
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		switch {
		case n == 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case strings.HasSuffix(r.URL.Path, "/"):
			fmt.Fprintf(w, `<a href="%s">it</a>`, wanted.Name)
		case n == 3:
			w.Header().Set("Content-Length", "7")
			fmt.Fprint(w, "a wh")
			panic(http.ErrAbortHandler)
		default:
			fmt.Fprint(w, content)
		}
	}))
	defer s.Close()
	c := Config{Indexes: []string{s.URL}, Timeout: 5 * time.Second, Retries: 2}
	if _, got, err := fetch(t, c, wanted); err != nil || got != content || requests.Load() != 4 {
		t.Errorf("got %q, %v after %d requests; want 4", got, err, requests.Load())
	}
	s.Close()
	client, err := NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	client.pause = time.Millisecond
	for range 2 {
		if _, err := client.Fetch(t.Context(), wanted, filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got error %v", err)
		}
	}
	if len(client.lost) != 1 {
		t.Errorf("the host is not given up: %v", client.lost)
	}
}

// The password of an index goes to the index and its files, and into no message.
func TestFetchWithPassword(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		serve(w, r)
	}))
	defer s.Close()
	for password, want := range map[string]string{"secret": "", "wrong": "401"} {
		index := strings.Replace(s.URL, "://", "://me:"+password+"@", 1)
		from, _, err := fetch(t, Config{Indexes: []string{index}, Timeout: 5 * time.Second}, wanted)
		text := from + fmt.Sprint(err)
		if (want == "") != (err == nil) || !strings.Contains(text, want) || strings.Contains(text, password+"@") {
			t.Errorf("password %s: got %s", password, text)
		}
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(serve))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(s.URL, "https://")
	for _, tt := range []struct {
		name string
		c    Config
		ok   bool
	}{
		{"the system's", Config{}, false},
		{"file", Config{Cert: file}, true},
		{"folder", Config{Cert: filepath.Dir(file)}, true},
		{"trusted", Config{TrustedHosts: []string{"127.0.0.1"}}, true},
		{"trusted port", Config{TrustedHosts: []string{host}}, true},
		{"another trusted", Config{TrustedHosts: []string{"localhost"}}, false},
	} {
		tt.c.Indexes, tt.c.Timeout, tt.c.Retries = []string{s.URL}, 5*time.Second, 3
		if _, _, err := fetch(t, tt.c, wanted); (err == nil) != tt.ok {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cert := range []string{empty, filepath.Join(t.TempDir(), "absent")} {
		if _, err := NewClient(Config{Cert: cert}); err == nil || !strings.Contains(err.Error(), cert) {
			t.Errorf("%s: got error %v", cert, err)
		}
	}
}

func TestProxy(t *testing.T) {
	var requests []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.String())
		serve(w, r)
	}))
	defer proxy.Close()
	c := Config{Indexes: []string{"http://mirror.invalid/simple"}, Proxy: proxy.URL, Timeout: 5 * time.Second}
	if _, got, err := fetch(t, c, wanted); err != nil || got != content || len(requests) != 2 || requests[0] != "http://mirror.invalid/simple/some-plugin/" {
		t.Errorf("got %q, %v; the proxy was asked for %v", got, err, requests)
	}
}

func TestCancelled(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer s.Close()
	client, err := NewClient(Config{Indexes: []string{s.URL}, Timeout: time.Minute, Retries: 5})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client.Fetch(ctx, wanted, filepath.Join(t.TempDir(), "x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
}
