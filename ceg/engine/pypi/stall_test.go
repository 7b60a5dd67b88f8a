package pypi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that stops, or that sends a byte now and then, is given up after pip's timeout.
func TestStall(t *testing.T) {
	wait := 200 * time.Millisecond
	for name, serve := range map[string]func(w http.ResponseWriter, done <-chan struct{}){
		"before the head": func(w http.ResponseWriter, done <-chan struct{}) { <-done },
		"in the body": func(w http.ResponseWriter, done <-chan struct{}) {
			fmt.Fprint(w, "<a href=")
			w.(http.Flusher).Flush()
			<-done
		},
		"a byte now and then": func(w http.ResponseWriter, done <-chan struct{}) {
			for tick := time.Tick(wait / 10); ; {
				select {
				case <-done:
					return
				case <-tick:
					fmt.Fprint(w, " ")
					w.(http.Flusher).Flush()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			stop := make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, stop) }))
			defer s.Close()
			defer close(stop)
			client, err := NewClient(Config{Indexes: []string{s.URL}, Timeout: wait, Retries: 1})
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			_, err = client.Fetch(t.Context(), File{Project: "p", Name: "p.whl", Size: 1 << 20}, filepath.Join(t.TempDir(), "p.whl"))
			if err == nil || !strings.Contains(err.Error(), "has come for "+wait.String()) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(begun); took > 10*wait {
				t.Errorf("it takes %v", took)
			}
		})
	}
}

// FuzzPages finds links on anything that an index may send, and reads anything as pip's
// configuration.
func FuzzPages(f *testing.F) {
	for _, text := range []string{`<a href="p.whl">it</a>`, `{"files":[{"filename":"p.whl","url":"../p.whl"}]}`, "[global]\nindex-url = https://host/simple\ntimeout = 3\n"} {
		f.Add([]byte(text))
	}
	page, err := url.Parse("https://host/simple/p/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []string{"text/html", "application/json"} {
			if u, err := findLink(data, kind, page, "p.whl"); err == nil && path.Base(u.Path) != "p.whl" {
				t.Errorf("found %s", u)
			}
		}
		_, _ = place(t, map[string]string{"etc/pip.conf": string(data)}, nil).Config()
	})
}
