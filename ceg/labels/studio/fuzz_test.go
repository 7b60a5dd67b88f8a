package studio

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzHandlers sends any body to the handlers. Each answers with JSON in one line and a status
// that it knows, calls no other server than Label Studio, and never sends the token elsewhere
// than to /data/ and to the project's export.
func FuzzHandlers(f *testing.F) {
	paths := []string{"setup", "predict", "webhook"}
	f.Add(uint8(0), `{"project":"2.7","schema":"`+twoClasses+`","hostname":"http://127.0.0.1:1","access_token":"x"}`)
	f.Add(uint8(1), predictOf("/data/upload/1/x.png", "north/1.png", "http://127.0.0.1:1/x.png", "/data/../x.png", ""))
	f.Add(uint8(1), `{"tasks":[{},null,[],{"data":[]}],"label_config":"<View"}`)
	f.Add(uint8(2), webhookOf("north/1.png"))
	f.Add(uint8(2), webhookOf("/data/upload/1/x.png"))
	f.Add(uint8(2), `{"action":"ANNOTATIONS_DELETED","project":{"id":2},"annotations":[{"id":9}]}`)
	f.Add(uint8(2), `{"action":"START_TRAINING","project":{"id":2,"label_config":"`+twoClasses+`"}}`)
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		p := open(t)
		studio, other := newWitness(t), newWitness(t)
		p.o.Address = studio.URL
		p.start(t.TempDir())
		body = strings.ReplaceAll(body, "127.0.0.1:1", strings.TrimPrefix(other.URL, "http://"))
		status, reply := p.post("/"+token+"/"+paths[int(which)%len(paths)], body)
		switch status {
		case http.StatusOK, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		default:
			t.Errorf("status %d: %.200s", status, reply)
		}
		if strings.Contains(reply, "\n") || !strings.HasPrefix(reply, "{") {
			t.Errorf("the answer is %.200q", reply)
		}
		if got := other.received(); got != "" {
			t.Errorf("another server received %q", got)
		}
		studio.mu.Lock()
		defer studio.mu.Unlock()
		for _, got := range studio.got {
			if strings.HasSuffix(got, " Token key") && !strings.HasPrefix(got, "/data/") && !strings.HasPrefix(got, "/api/projects/") {
				t.Errorf("the token went to %q", got)
			}
		}
	})
}
