// Package hubtest serves a local Hugging Face hub for tests.
package hubtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Commit is the commit of the repository of [Hub].
const Commit = "0123456789abcdef0123456789abcdef01234567"

// Hub serves files, by their names in the repository who/vit, like the hub, and sets HF_ENDPOINT
// until the test ends. It returns the number of requests so far.
func Hub(t *testing.T, files map[string][]byte) *int {
	t.Helper()
	requests := new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests++
		path := r.URL.Path
		if strings.HasPrefix(path, "/api/models/who/vit/revision/") {
			var list []string
			for name, file := range files {
				list = append(list, fmt.Sprintf(`{"rfilename": %q, "size": %d}`, name, len(file)))
			}
			fmt.Fprintf(w, `{"id": "who/vit", "sha": %q, "siblings": [%s], "cardData": {"license": "apache-2.0"}}`, Commit, strings.Join(list, ","))
			return
		}
		name, found := strings.CutPrefix(path, "/who/vit/resolve/"+Commit+"/")
		file, ok := files[name]
		if !found || !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(file)
	}))
	t.Cleanup(s.Close)
	t.Setenv("HF_ENDPOINT", s.URL)
	return requests
}
