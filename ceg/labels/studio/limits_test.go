package studio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
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

// pngOf is the head of a PNG that says how large it is.
func pngOf(width, height uint32) []byte {
	b := bytes.NewBufferString("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	chunk := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
	chunk = append(chunk, 8, 2, 0, 0, 0)
	b.Write(chunk[4:])
	b.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk)))
	return b.Bytes()
}

// Large images leave their tasks without a prediction, however many; few of their bytes are read.
func TestLargeImages(t *testing.T) {
	p := open(t)
	say := func(head []byte, n int64, long bool, sent *atomic.Int64) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if long {
				w.Header().Set("Content-Length", fmt.Sprint(n))
			}
			w.Write(head)
			for n := n - int64(len(head)); n > 0; n -= 1 << 16 {
				if _, err := w.Write(make([]byte, min(n, 1<<16))); err != nil {
					return
				}
				sent.Add(min(n, 1<<16))
			}
		}
	}
	studio := newWitness(t)
	p.o.Address = studio.URL
	for _, c := range []struct {
		title      string
		head       []byte
		n          int64
		long       bool
		sent, most int64 // of 60 images, of which the test's server allocates most
	}{
		{"400 MB each", pngOf(9000, 9000), 400 << 20, true, 240 << 20, 256 << 20},
		{"400 MB each, not announced", pngOf(9000, 9000), 400 << 20, false, 2 * maxPicture, 1<<30 + 1},
		{"89 megapixels each", pngOf(9458, 9458), 200, true, 1 << 20, 32 << 20},
	} {
		var many []string
		for i := range 60 {
			many = append(many, fmt.Sprintf("/data/upload/1/%d.png", i))
		}
		for _, n := range []int{60, 1} {
			if n == 60 && c.most > 1<<30 {
				continue // slow, and the first row is of as many
			}
			p.start(t.TempDir())
			p.model.seen = nil
			var sent atomic.Int64 // of this request alone: the server may still be sending for the last one
			studio.reset(say(c.head, c.n, c.long, &sent))
			status, reply := 0, ""
			got := allocates(func() { status, reply = p.post("/"+token+"/predict", predictOf(many[:n]...)) })
			if status != http.StatusOK || strings.Count(reply, `"result":[]`) != n || len(p.model.seen) != 0 {
				t.Errorf("%s, %d images: %d %.200s; the model saw %d images", c.title, n, status, reply, len(p.model.seen))
			}
			if sent.Load() > c.sent || int64(got) > c.most {
				t.Errorf("%s, %d images: %d MB sent, %d MB allocated", c.title, n, sent.Load()>>20, got>>20)
			}
		}
		if status, reply := p.post("/"+token+"/webhook", webhookOf("/data/upload/1/x.png")); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: the webhook of one has %d %s", c.title, status, reply)
		}
	}
}

// Fetched images are shown to the model one at a time.
func TestImagesOneByOne(t *testing.T) {
	p := open(t)
	studio := newWitness(t)
	p.o.Address = studio.URL
	p.start(t.TempDir())
	status, reply := p.post("/"+token+"/predict", predictOf("/data/upload/1/a.png", "north/2.png", "/data/upload/1/b.png", "north/1.png"))
	if status != http.StatusOK || strings.Count(reply, `"choices":["cat"]`) != 1 || strings.Count(reply, `"choices":["dog"]`) != 1 {
		t.Errorf("%d %s", status, reply)
	}
	if got := fmt.Sprint(p.model.calls); got != "[1 1 2]" {
		t.Errorf("images by calls of the model: %s", got)
	}
}
