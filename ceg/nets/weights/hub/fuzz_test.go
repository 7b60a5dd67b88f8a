package hub

import (
	"encoding/json"
	"os"
	"testing"
)

// FuzzDownload lets a hub answer with any listing, headers and bytes. Nothing is written outside
// of the cache, and downloads match the listing.
func FuzzDownload(f *testing.F) {
	f.Add(`"abc"`, "", commit, "model.onnx", len(body), body, "")
	f.Add(`"../../../../../planted"`, commit, commit, "model.onnx", len(body), body, "")
	f.Add(`W/".planted"`, "../x", commit, "model.onnx", len(body), body, "")
	f.Add(`"abc"`, "", "../../../planted", "model.onnx", len(body), body, "")
	f.Add(`"abc"`, "", commit, "../../model.onnx", len(body), body, "")
	f.Add(`"abc"`, "", commit, "model.onnx", 1<<60, body, "")
	f.Add(`"abc"`, "", commit, "model.onnx", -1, body, "")
	f.Add(`"abc"`, "", commit, "model.onnx", 0, body, "9999999999")
	f.Add("", "", commit, "model.onnx", 3, body, "3")
	f.Fuzz(func(t *testing.T, etag, header, sha, name string, size int, sent, linked string) {
		list, err := json.Marshal(map[string]any{"id": "who/net", "sha": sha, "siblings": []map[string]any{{"rfilename": name, "size": size}}})
		if err != nil {
			t.Fatal(err)
		}
		s := &server{listing: func(int) string { return string(list) }, body: sent, header: map[string]string{"ETag": etag}}
		for k, v := range map[string]string{"X-Repo-Commit": header, "X-Linked-Size": linked} {
			if v != "" {
				s.header[k] = v
			}
		}
		s.start(t)
		path, outside, err := fetch(t)
		if outside != nil {
			t.Fatalf("it writes %q", outside)
		}
		if err != nil {
			return
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != sent || len(b) != size {
			t.Errorf("%d bytes of %d, the listing says %d: %v", len(b), len(sent), size, err)
		}
	})
}
