package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets/weights/hub/hubtest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Names that an import brings are no commands for the terminal.
func TestImportedNames(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "photos")
	unlabelled(t, root)
	text := "id,label,annotator\nday/0.png,cat,\"\x1b]0;owned\x07ann\"\nday/0.png,dog,\"\x1b[2Jbob\"\n"
	fatal.If(t, os.WriteFile(filepath.Join(dir, "a.csv"), []byte(text), 0o666))
	out, errs, status := call(t, dir, "label", "import", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--format", "csv", "a.csv")
	if status != 0 || !strings.Contains(out, `\x1b[2Jbob`) || strings.ContainsAny(out+errs, "\x1b\x07") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
	out, errs, status = call(t, dir, "label", "agreement", root)
	if status != 0 || !strings.Contains(out, `\x1b]0;owned\aann`) || strings.ContainsAny(out+errs, "\x1b\x07") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
}

// Names in a study file and in arguments are no commands for the terminal.
func TestNamesAreNoCommands(t *testing.T) {
	dir := t.TempDir()
	text := tinyStudy + "    variants: [{name: \"\\e[2Jgone\", set: {schedule.epochs: 4}}]\n"
	fatal.If(t, os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(text), 0o666))
	for _, args := range [][]string{
		{"study", "run", "s.yaml", "--dry-run"},
		{"data", "example", "\x1b[2Jgone"},
		{"study", "status", "\x1b[2Jgone"},
	} {
		out, errs, _ := call(t, dir, args...)
		if !strings.Contains(out+errs, `\x1b[2Jgone`) || strings.Contains(out+errs, "\x1b") {
			t.Errorf("%q prints %q, %q", args, out, errs)
		}
	}
}

// The licence in a hub's card is no command for the terminal.
func TestHubLicenceIsNoCommand(t *testing.T) {
	small := fatal.Get(os.ReadFile("../../ceg/nets/onnx/imported/testdata/train/small.onnx"))(t)
	hubtest.Hub(t, map[string][]byte{"model.onnx": small})
	hub := fatal.Get(url.Parse(os.Getenv("HF_ENDPOINT")))(t)
	proxy := httputil.NewSingleHostReverseProxy(hub)
	proxy.ModifyResponse = func(r *http.Response) error {
		b, err := io.ReadAll(r.Body)
		b = bytes.ReplaceAll(b, []byte(`"apache-2.0"`), []byte(`"\u001b[2Jgone"`))
		r.Body = io.NopCloser(bytes.NewReader(b))
		if r.Request.Method != http.MethodHead {
			r.ContentLength = int64(len(b))
			r.Header.Del("Content-Length")
		}
		return err
	}
	server := httptest.NewServer(proxy)
	defer server.Close()
	t.Setenv("HF_ENDPOINT", server.URL)
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	root := filepath.Join(dir, "photos")
	unlabelled(t, root)
	out, errs, _ := call(t, dir, "embed", "--dataset", "folder", "--root", root, "--net", "hf:who/vit", "--backend", "go", "--out", "f.safetensors")
	if !strings.Contains(errs, `\x1b[2Jgone`) || strings.Contains(out+errs, "\x1b") {
		t.Errorf("%q, %q", out, errs)
	}
}
