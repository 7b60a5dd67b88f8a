package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What GoNB says of files becomes what a language server understands.
func TestCorrect(t *testing.T) {
	dir := t.TempDir()
	in, out := fileURI(dir), fileURI("/elsewhere/a.go")
	file := func(name string) string { return `{"textDocument":{"uri":"` + in + "/" + name + `","version":2}` }
	const text = `,"contentChanges":[{"range":{"start":{"line":0,"character":0}},"text":"package main\n"}]}`
	for _, c := range []struct{ method, params, wantMethod, want string }{
		{"textDocument/didChange", file("main.go") + text, "textDocument/didChange",
			`{"contentChanges":[{"text":"package main\n"}],"textDocument":{"uri":"` + in + `/main.go","version":2}}`},
		{"textDocument/didChange", file("go.mod") + text, "workspace/didChangeWatchedFiles", `{"changes":[{"type":2,"uri":"` + in + `/go.mod"}]}`},
		{"textDocument/didOpen", `{"textDocument":{"uri":"` + out + `","text":"package a\n"}}`, "", "null"},
		{"textDocument/didChange", `{"textDocument":{"uri":"` + out + `"}` + text, "workspace/didChangeWatchedFiles", `{"changes":[{"type":2,"uri":"` + out + `"}]}`},
		{"textDocument/didClose", `{"textDocument":{"uri":"` + out + `"}}`, "workspace/didChangeWatchedFiles", `{"changes":[{"type":3,"uri":"` + out + `"}]}`},
		{"$/cancelRequest", `{"id":1}`, "$/cancelRequest", `{"id":1}`},
	} {
		method, params := fatal.Get2(correct(dir, c.method, json.RawMessage(c.params)))(t)
		if got, err := json.Marshal(params); err != nil || method != c.wantMethod || string(got) != c.want {
			t.Errorf("%s %s became\n%s %s, want\n%s %s (%v)", c.method, c.params, method, got, c.wantMethod, c.want, err)
		}
	}
}

// A cell that cannot be parsed has the imports of the cells before it, and no line moves.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	const cell = "package main\n\nfunc main() {\nx.\n}\n"
	if got := program(dir, "main.go", cell); got != cell {
		t.Errorf("the program became %q", got)
	}
	if got := program(dir, "other.go", "package main\n\nvar old int\n"); strings.Contains(got, "old") {
		t.Errorf("a file that is no longer there holds %q", got)
	}
	other := "package main\n\nimport (\n\t\"fmt\"\n\tm \"math\"\n)\n"
	fatal.If(t, os.WriteFile(filepath.Join(dir, "other.go"), []byte(other), 0o600))
	want := `package main; import "fmt"; import m "math"` + "\n\nfunc main() {\nx.\n}\n"
	if got := program(dir, "main.go", cell); got != want {
		t.Errorf("the program became %q, want %q", got, want)
	}
}

func TestDocumentation(t *testing.T) {
	for reply, want := range map[string]string{
		`{"contents":{"kind":"plaintext","value":"func f()\nF does.\n"}}`: "func f()\nF does.",
		`null`: "nothing is known of this name",
		``:     "nothing is known of this name",
	} {
		if got := documentation(json.RawMessage(reply)).Error(); got != want {
			t.Errorf("%s is %q, want %q", reply, got, want)
		}
	}
}
