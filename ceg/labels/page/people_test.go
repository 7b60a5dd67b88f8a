package page_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// together serves a page for several annotators, and returns a window of each.
func together(t *testing.T, o page.Options, by ...string) (*page.Server, []window) {
	t.Helper()
	o.By = by
	s, address := serve(t, o)
	origin := strings.TrimSuffix(address, s.Path(by[0]))
	var list []window
	for _, name := range by {
		list = append(list, window{t, origin + s.Path(name), "w"})
	}
	return s, list
}

// Who answers follows from the link alone: each has their own name in the ledger, and their
// own undo, and nobody but the server's secret ends the server.
func TestPeople(t *testing.T) {
	root := images(t, 2, 3)
	d := folder(t, root)
	dir := t.TempDir()
	s, list := together(t, options(t, d, root, dir, animals), "ann", "ben")
	ann, ben := list[0], list[1]
	if ann.address == ben.address {
		t.Fatal("ann and ben have one link")
	}
	var setup struct{ By string }
	if ben.get("setup", url.Values{}, &setup); setup.By != "ben" {
		t.Errorf("ben's page is %q's", setup.By)
	}
	va, vb := ann.view(), ben.view()
	if va.Question.ID == vb.Question.ID {
		t.Errorf("both are asked about %s", va.Question.ID)
	}
	first, second := va.Question.ID, vb.Question.ID
	ann.say(va, "label", "ant")
	vb = ben.say(vb, "label", "bear")
	if !vb.Undo {
		t.Error("ben cannot undo his answer")
	}
	_, undone, _ := ann.act(map[string]any{"op": "undo"})
	if undone.Question == nil || undone.Question.ID != first || undone.Undo {
		t.Errorf("ann's undo shows %+v", undone.Question)
	}
	st := state(t, dir)
	if im := st.Image(second); im.By != "ben" || im.Class != "bear" {
		t.Errorf("ben's answer is %+v", im)
	}
	if e, _ := st.Event(1); e.By != "ann" {
		t.Errorf("the first event is %+v", e)
	}
	for _, c := range []struct {
		what, method, address, body string
		want                        int
	}{
		{"another's name in an answer", "POST", ann.address + "act", fmt.Sprintf(`{"client":"w","op":"label","id":%q,"rev":%q,"class":"cat","by":"ben"}`, first, undone.Question.Rev), 400},
		{"ann ends the server", "POST", ann.address + "stop", `{}`, 404},
		{"an annotator whom nobody named", "GET", strings.TrimSuffix(ann.address, s.Path("ann")) + s.Path("eve") + "setup", "", 404},
	} {
		r := fatal.Get(http.NewRequest(c.method, c.address, strings.NewReader(c.body)))(t)
		r.Header.Set("Content-Type", "application/json")
		reply := fatal.Get(http.DefaultClient.Do(r))(t)
		io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if reply.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", c.what, reply.StatusCode, c.want)
		}
	}
	for _, o := range [][]string{nil, {"ann", ""}, {"ann", "ann"}} {
		bad := options(t, d, root, t.TempDir(), animals)
		if bad.By = o; len(o) == 0 {
			bad.By = nil
		}
		if _, err := page.New(bad); err == nil {
			t.Errorf("annotators %q are taken", o)
		}
	}
}

// A question on one screen is on no other while its window lives: a window that leaves, or
// says nothing for long, gives it back, and one that only lives keeps it.
func TestLeases(t *testing.T) {
	root := images(t, 1, 1) // 4 images
	d := folder(t, root)
	dir := t.TempDir()
	s, list := together(t, options(t, d, root, dir, animals), "ann", "ben", "eve", "ida", "joe")
	shown := make(map[string]string)
	for _, w := range list[:4] { // the first window has all ahead, and gives what it does not show
		v := w.view()
		if v.Question == nil || shown[v.Question.ID] != "" {
			t.Fatalf("%s is asked about %+v, which %s has", w.address, v.Question, shown[v.Question.ID])
		}
		shown[v.Question.ID] = w.address
	}
	joe := list[4]
	if v := joe.view(); v.Question != nil || v.Elsewhere != 4 || v.N.Open != 4 {
		t.Fatalf("joe is asked about %+v, %d are elsewhere", v.Question, v.Elsewhere)
	}
	post := func(w window, path, body string) {
		t.Helper()
		reply, err := http.Post(w.address+path, "application/json", strings.NewReader(body))
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatal(path, reply, err)
		}
		reply.Body.Close()
	}
	// ben cannot end the lease of ann, by her window's name, and ann can.
	post(list[1], "leave", `{"client":"nobody"}`)
	if v := joe.view(); v.Question != nil {
		t.Fatalf("joe is asked about %s", v.Question.ID)
	}
	first := list[0].view().Question.ID
	post(list[0], "leave", `{"client":"w"}`)
	if v := joe.view(); v.Question == nil || v.Question.ID != first {
		t.Fatalf("after ann has left joe is asked about %+v, want %s", v.Question, first)
	}
	// What was undone is on its annotator's screen.
	v := joe.say(joe.view(), "label", "ant")
	_, v, _ = joe.act(map[string]any{"op": "undo"})
	if ann := list[0].view(); v.Question == nil || v.Question.ID != first || ann.Question != nil {
		t.Errorf("joe has %+v again, ann %+v", v.Question, ann.Question)
	}
	joe.say(v, "label", "ant")
	// Silence: ben, eve and ida have a question each, and only ida lives.
	ida := list[3].view().Question.ID
	s.SetSilence(400 * time.Millisecond)
	for range 5 {
		time.Sleep(100 * time.Millisecond)
		post(list[3], "beat", fmt.Sprintf(`{"client":"w","id":%q}`, ida))
	}
	got := make(map[string]bool)
	for _, w := range []window{list[0], joe} {
		if v := w.view(); v.Question == nil || v.Question.ID == ida || got[v.Question.ID] {
			t.Errorf("%s is asked about %+v", w.address, v.Question)
		} else {
			got[v.Question.ID] = true
		}
	}
	// A server that is started again learns from a window what it shows.
	again, list := together(t, options(t, d, root, dir, animals), "ann", "ben", "eve", "ida", "joe")
	post(list[3], "beat", fmt.Sprintf(`{"client":"w","id":%q}`, ida))
	for _, w := range list[:3] {
		if v := w.view(); v.Question != nil && v.Question.ID == ida {
			t.Errorf("%s has ida's question", w.address)
		}
	}
	_ = again
}

// Going through what was skipped, two annotators have different images, and what the one
// has answered does not come to the other.
func TestAgainTogether(t *testing.T) {
	root := images(t, 2, 1) // 8 images
	d := folder(t, root)
	dir := t.TempDir()
	_, list := together(t, options(t, d, root, dir, animals), "ann", "ben")
	for v := list[0].view(); v.Question != nil; { // each twice
		v = list[0].say(v, "skip", "")
	}
	again := map[string]any{"op": "again", "state": "skipped"}
	_, va, _ := list[0].act(again)
	_, vb, _ := list[1].act(again)
	for n := 0; va.Question != nil || vb.Question != nil; n++ {
		if va.Question != nil && vb.Question != nil && va.Question.ID == vb.Question.ID {
			t.Fatalf("both have %s", va.Question.ID)
		}
		if va.Question != nil {
			va = list[0].say(va, "label", "ant")
		}
		if vb.Question != nil {
			vb = list[1].say(vb, "label", "bear")
		}
		if n > 8 {
			t.Fatal("it does not end")
		}
	}
	st := state(t, dir)
	if n := count(st, labels.Labelled); n != 8 || st.Last() != 24 {
		t.Errorf("%d answers in %d events", n, st.Last())
	}
}

// Annotators with a window each, and one with two, answer at the same time. Each question
// is answered once; with Blind each annotator answers each.
func TestTogether(t *testing.T) {
	for _, blind := range []bool{false, true} {
		t.Run(fmt.Sprintf("blind %v", blind), func(t *testing.T) {
			root := images(t, 3, 5) // 60 images
			d := folder(t, root)
			dir := t.TempDir()
			o := options(t, d, root, dir, animals)
			if blind {
				o.Rest, o.Blind = false, true
				var queries []labels.Question
				for _, e := range d.Examples {
					queries = append(queries, labels.Question{ID: e.ID})
				}
				fatal.Get(o.Ledger.Query("run", 1, queries))(t)
			}
			_, list := together(t, o, "ann", "ben", "eve")
			list = append(list, window{t, list[0].address, "other"})
			var all sync.WaitGroup
			for _, w := range list {
				all.Go(func() {
					for v := w.view(); v.Question != nil || v.Elsewhere > 0; {
						if v.Question == nil {
							time.Sleep(time.Millisecond)
							v = w.view()
							continue
						}
						v = w.say(v, "label", classOf(v.Question.ID))
					}
				})
			}
			all.Wait()
			st := state(t, dir)
			count := make(map[string]int)
			for n := int64(1); n <= st.Last(); n++ {
				if e, _ := st.Event(n); e.Kind == labels.Labelled {
					count[e.ID]++
					if blind {
						count[e.By]++
					}
				}
			}
			want := 1
			if blind {
				want = 3
			}
			for _, e := range d.Examples {
				if count[e.ID] != want {
					t.Errorf("%s was answered %d times, want %d", e.ID, count[e.ID], want)
				}
			}
			if blind && (count["ann"] != 60 || count["ben"] != 60 || count["eve"] != 60) {
				t.Errorf("answers: %v, want 60 each", count)
			}
		})
	}
}

// On the network the server answers to the name it listens by and to the address that a
// request came to, and on the loopback to neither.
func TestNames(t *testing.T) {
	root := images(t, 1, 1)
	d := folder(t, root)
	for _, c := range []struct {
		address page.Address
		host    string
		want    int
	}{
		{page.Address{}, "127.0.0.1", 200},
		{page.Address{}, "lab.example", 403},
		{page.Address{Host: "lab.example"}, "lab.example", 200},
		{page.Address{Host: "lab.example"}, "LAB.example:8000", 200},
		{page.Address{Host: "lab.example"}, "evil.example", 403},
		{page.Address{Host: "lab.example"}, "lab.example.evil.example", 403},
		{page.Address{Host: "0.0.0.0", Name: "192.0.2.7"}, "192.0.2.7:8000", 200},
		{page.Address{Host: "0.0.0.0"}, "192.0.2.7", 403},
		{page.Address{Host: "0.0.0.0"}, "127.0.0.1", 200},
		{page.Address{Host: "0.0.0.0"}, "", 403},
	} {
		o := options(t, d, root, t.TempDir(), animals)
		o.Running.Address = c.address
		s := fatal.Get(page.New(o))(t)
		r := httptest.NewRequest("GET", s.Path("ann")+"setup", nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%+v is called %q: status %d, want %d", c.address, c.host, w.Code, c.want)
		}
		s.Close()
	}
	// The address of this machine itself, over a connection to it.
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		o := options(t, d, root, t.TempDir(), animals)
		l, running := fatal.Get2(page.Listen(o.Ledger.Path(), page.Running{Address: page.Address{Host: "0.0.0.0"}}))(t)
		o.Running = running
		s := fatal.Get(page.New(o))(t)
		defer s.Close()
		go s.Serve(t.Context(), l)
		reply, err := http.Get(fmt.Sprintf("http://%s:%d%ssetup", ip.IP, running.Port, s.Path("ann")))
		if err != nil {
			t.Skip(err)
		}
		reply.Body.Close()
		if reply.StatusCode != http.StatusOK {
			t.Errorf("at %s: %s", ip.IP, reply.Status)
		}
		return
	}
}
