// Package studiotest starts a real Label Studio for tests.
package studiotest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/internal/fatal"
)

// Studio is a running Label Studio.
type Studio struct {
	t *testing.T
	// Address is the address of its page and its API.
	Address string
}

// Token is the API token of its user, ann@example.com.
const Token = "0123456789abcdef0123456789abcdef01234567"

// Start starts the program that LEDG_LABEL_STUDIO names, with an empty database and the folder
// documents for local files. It skips the test if the variable is not set.
func Start(t *testing.T, documents string) Studio {
	t.Helper()
	program := os.Getenv("LEDG_LABEL_STUDIO")
	if program == "" {
		t.Skip("LEDG_LABEL_STUDIO is not the path of label-studio's executable (pip install label-studio), " +
			"nor the address of one that runs with the settings below and the folder of temporary files as its documents")
	}
	if strings.HasPrefix(program, "http://") {
		return Studio{t: t, Address: program}
	}
	l := fatal.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command(program, "start", "--no-browser", "--port", fmt.Sprint(port), "--internal-host", "127.0.0.1", "--data-dir", t.TempDir())
	cmd.Env = append(os.Environ(), "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true", "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT="+documents,
		"LABEL_STUDIO_USERNAME=ann@example.com", "LABEL_STUDIO_PASSWORD=only for the test", "LABEL_STUDIO_USER_TOKEN="+Token,
		"LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN=true", "ML_BLOCK_LOCAL_IP=false", "SSRF_PROTECTION_ENABLED=false", "COLLECT_ANALYTICS=false", "LATEST_VERSION_CHECK=false", "SENTRY_DSN=", "FRONTEND_SENTRY_DSN=")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	fatal.If(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("label-studio: %.4000s", log.String())
		}
	})
	s := Studio{t: t, Address: fmt.Sprintf("http://127.0.0.1:%d", port)}
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Second) {
		if reply, err := http.Get(s.Address + "/health"); err == nil {
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(end) {
			t.Fatal("label-studio does not answer")
		}
	}
}

// Call calls the API, with JSON unless body is nil, and returns the response.
func (s Studio) Call(method, path string, body any, into any) []byte {
	s.t.Helper()
	var send io.Reader
	if text, ok := body.([]byte); ok {
		send = bytes.NewReader(text)
	} else if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		send = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, s.Address+path, send)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Token "+Token)
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s: %.1000s %v", method, path, reply.Status, text, err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			s.t.Fatalf("%s %s: %v in %.1000s", method, path, err, text)
		}
	}
	return text
}
