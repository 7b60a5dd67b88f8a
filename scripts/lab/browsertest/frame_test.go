package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The page works in a frame of a page of this machine, as Jupyter's are, by its keys,
// and is not shown in one of another host.
func TestFrame(t *testing.T) {
	w := browser(t, chromedp.Flag("host-resolver-rules", "MAP elsewhere.example 127.0.0.1"))
	root := images(t, 2, 1)
	d := folder(t, root)
	dir := t.TempDir()
	s := fatal.Get(page.New(options(t, d, root, dir, animals)))(t)
	defer s.Close()
	var views atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/view") {
			views.Add(1)
		}
		s.ServeHTTP(w, r)
	}))
	defer h.Close()
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>outer</title><iframe src="%s%s" style="width: 900px; height: 700px"></iframe>`, h.URL, s.Path("ann"))
	}))
	defer outer.Close()

	w.do(chromedp.Navigate(strings.Replace(outer.URL, "127.0.0.1", "elsewhere.example", 1)))
	time.Sleep(time.Second)
	if n := views.Load(); n != 0 {
		t.Errorf("the page was shown in a frame of another host: %d requests", n)
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		views.Store(0)
		w.do(chromedp.Navigate(strings.Replace(outer.URL, "127.0.0.1", host, 1)))
		for begun := time.Now(); views.Load() == 0; time.Sleep(20 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("the page is not shown in a frame of %s", host)
			}
		}
	}
	time.Sleep(time.Second) // the image
	w.do(chromedp.MouseClickXY(300, 300))
	w.press("2")
	for begun := time.Now(); len(state(t, dir).Labels()) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("a key in the frame did nothing")
		}
	}
	if l := state(t, dir).Labels()[0]; l.Class != "bear" {
		t.Errorf("key 2 is %q", l.Class)
	}
}
