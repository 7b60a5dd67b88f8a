package studio

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// repeat is a reader of a text, again and again.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (n int, _ error) {
	for n < len(p) {
		k := copy(p[n:], r.text[r.at:])
		n, r.at = n+k, (r.at+k)%len(r.text)
	}
	return n, nil
}

// allocates returns how many bytes f allocates.
func allocates(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Long bodies are refused before they are in memory.
func TestLongBodies(t *testing.T) {
	p := open(t)
	for _, c := range []struct {
		path, head, each, want string
		most                   uint64
	}{
		{"predict", `{"tasks":[{}`, `,{}`, "more than 50000 tasks", 32 << 20},
		{"predict", `{"tasks":[{"id":1,"data":{"a":"`, "x", "", 300 << 20}, // the longest value once, and as the buffer grows
		{"predict", `{"params":[0`, ",0", "", 300 << 20},
		{"webhook", `{"action":"ANNOTATIONS_CREATED","annotation":[0`, ",0", "", 150 << 20},
		{"webhook", `{"action":"ANNOTATIONS_DELETED","annotations":[{}`, ",{}", "", 150 << 20},
		{"setup", `{"schema":"`, "<View>", "", 150 << 20},
	} {
		w := httptest.NewRecorder()
		got := allocates(func() {
			body := io.MultiReader(strings.NewReader(c.head), io.LimitReader(&repeat{text: c.each}, 80<<20))
			p.s.ServeHTTP(w, httptest.NewRequest("POST", "/"+token+"/"+c.path, body))
		})
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), c.want) || got > c.most {
			t.Errorf("%s %s%s...: %d %s, %d MB allocated, want at most %d", c.path, c.head, c.each, w.Code, w.Body, got>>20, c.most>>20)
		}
	}
	body := `{"action":"ANNOTATIONS_DELETED","annotations":[{}` + strings.Repeat(",{}", maxTasks) + "]}"
	if status, reply := p.post("/"+token+"/webhook", body); status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", status, reply)
	}
}

// Large images leave their tasks without a prediction, however many; few of their bytes are read,
// and none are kept.
func TestLargeImages(t *testing.T) {
	p := open(t)
	studio := newWitness(t)
	p.o.Address = studio.URL
	const n = 400 << 20
	for _, c := range []struct {
		declared bool
		images   int
		sent     int64 // at most
	}{{true, 60, 240 << 20}, {true, 1, 4 << 20}, {false, 1, 2 * maxPicture}} {
		var many []string
		for i := range c.images {
			many = append(many, fmt.Sprintf("/data/upload/1/%d.png", i))
		}
		p.start(t.TempDir())
		p.model.seen = nil
		var sent atomic.Int64 // of this request alone: the server may still be sending for the last one
		studio.reset(func(w http.ResponseWriter, r *http.Request) {
			if c.declared {
				w.Header().Set("Content-Length", fmt.Sprint(n))
			}
			io.WriteString(w, "\x89PNG\r\n\x1a\n")
			for part := make([]byte, 1<<16); sent.Load() < n; sent.Add(1 << 16) {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		})
		status, reply := 0, ""
		got := allocates(func() { status, reply = p.post("/"+token+"/predict", predictOf(many...)) })
		if status != http.StatusOK || strings.Count(reply, `"result":[]`) != c.images || len(p.model.seen) != 0 || sent.Load() > c.sent || got > 32<<20 {
			t.Errorf("%+v: %d %.200s; the model saw %d images; %d MB sent, %d MB allocated", c, status, reply, len(p.model.seen), sent.Load()>>20, got>>20)
		}
		if status, reply := p.post("/"+token+"/webhook", webhookOf("/data/upload/1/x.png")); c.declared && status != http.StatusRequestEntityTooLarge {
			t.Errorf("%+v: the webhook of one has %d %s", c, status, reply)
		}
	}
}
