// Gopls is a proxy between GoNB and gopls, the language server that completes and documents the
// code of cells. GoNB starts it in the folder of the cells' program, as
//
//	gopls -listen unix;SOCKET
//
// and connects seconds later. By then the server, whose path is in LEDG_GOPLS, has loaded what
// cells import. The proxy corrects GoNB's messages in three ways. GoNB sends a changed file as
// text inserted at its start. It keeps every file of this repository open, so the server checks
// all of them on every change. It sends an unfinished cell without its imports.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
)

func main() {
	if len(os.Args) != 3 || os.Args[1] != "-listen" {
		fmt.Fprintln(os.Stderr, "usage: LEDG_GOPLS=SERVER gopls -listen unix;SOCKET")
		os.Exit(2)
	}
	err := serve(context.Background(), os.Getenv("LEDG_GOPLS"), strings.TrimPrefix(os.Args[2], "unix;"))
	fmt.Fprintln(os.Stderr, "gopls:", err)
	os.Exit(1)
}

// serve starts the server and connects it with whoever connects to the socket, one after
// the other. It returns only with an error.
func serve(ctx context.Context, program, socket string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	for range 100 { // GoNB writes the workspace after it has started us, this last
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.Contains(mod, []byte("replace ")) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	s := &server{dir: dir}
	if err := s.start(ctx, program); err != nil {
		return err
	}
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		client := jsonrpc2.NewConn(jsonrpc2.NewStream(c))
		client.Go(ctx, s.pass)
		<-client.Done()
	}
}

type server struct {
	dir   string // of the cells' program
	conn  jsonrpc2.Conn
	ready json.RawMessage // what it answered to initialize
}

// start starts the server in the folder, and lets it load what cells import.
func (s *server) start(ctx context.Context, program string) error {
	cmd := exec.Command("nice", "-n", "5", program) // cells are built first
	cmd.Dir = s.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.conn = jsonrpc2.NewConn(jsonrpc2.NewStream(pipes{out, in}))
	s.conn.Go(ctx, func(ctx context.Context, reply jsonrpc2.Replier, r jsonrpc2.Request) error {
		return reply(ctx, nil, nil) // it asks for nothing that we have
	})
	folder := map[string]any{"uri": fileURI(s.dir), "name": filepath.Base(s.dir)}
	plain := map[string]any{"textDocument": map[string]any{"hover": map[string]any{"contentFormat": []string{"plaintext"}}}}
	// Names that begin with the typed text, without those reached through others: Jupyter takes
	// the first when Tab is pressed twice.
	options := map[string]any{"deepCompletion": false, "matcher": "CaseInsensitive"}
	setup := map[string]any{"capabilities": plain, "workspaceFolders": []any{folder}, "initializationOptions": options}
	if _, err := s.conn.Call(ctx, "initialize", setup, &s.ready); err != nil {
		return err
	}
	if err := s.conn.Notify(ctx, "initialized", map[string]any{}); err != nil {
		return err
	}
	const cell = "package main\n\nimport \"github.com/ledg-go/ledg/notebooks/nb\"\n\nfunc main() { nb.T }\n"
	file := map[string]any{"uri": fileURI(filepath.Join(s.dir, "main.go"))}
	open := map[string]any{"uri": file["uri"], "languageId": "go", "version": 0, "text": cell}
	at := map[string]any{"line": 4, "character": 18}
	return errors.Join(
		s.conn.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": open}),
		s.request(ctx, "textDocument/completion", map[string]any{"textDocument": file, "position": at}),
		s.conn.Notify(ctx, "textDocument/didClose", map[string]any{"textDocument": file}),
	)
}

// request sends a request and ignores its reply.
func (s *server) request(ctx context.Context, method string, params any) error {
	var reply json.RawMessage
	_, err := s.conn.Call(ctx, method, params, &reply)
	return err
}

// pass forwards a message of GoNB to the server, corrected, and returns the server's reply.
func (s *server) pass(ctx context.Context, reply jsonrpc2.Replier, r jsonrpc2.Request) error {
	if call, ok := r.(*jsonrpc2.Call); ok {
		if call.Method() == "initialize" {
			return reply(ctx, s.ready, nil)
		}
		var result json.RawMessage
		_, err := s.conn.Call(ctx, call.Method(), call.Params(), &result)
		if call.Method() == "textDocument/hover" && err == nil {
			return reply(ctx, nil, documentation(result))
		}
		return reply(ctx, result, err)
	}
	if r.Method() == "initialized" {
		return nil
	}
	method, params, err := correct(s.dir, r.Method(), r.Params())
	if err != nil || method == "" {
		return err
	}
	return s.conn.Notify(ctx, method, params)
}

// documentation returns the server's documentation of a name as an error: GoNB passes documentation
// on as Markdown, which not every Jupyter shows, and errors as plain text.
func documentation(reply json.RawMessage) error {
	var hover struct {
		Contents struct {
			Value string `json:"value"`
		} `json:"contents"`
	}
	text := "nothing is known of this name"
	if json.Unmarshal(reply, &hover) == nil && hover.Contents.Value != "" {
		text = strings.TrimSpace(hover.Contents.Value)
	}
	return jsonrpc2.NewError(jsonrpc2.UnknownError, text)
}

// correct returns the notification to send instead of one about a file, the empty method for none:
// the cells' program is open in an editor, other files are on disk.
func correct(dir, method string, params json.RawMessage) (string, any, error) {
	kind, ok := strings.CutPrefix(method, "textDocument/did")
	if !ok {
		return method, params, nil
	}
	var p struct {
		TextDocument struct {
			URI     string  `json:"uri"`
			Version int32   `json:"version"`
			Text    *string `json:"text"`
		} `json:"textDocument"`
		Changes []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", nil, err
	}
	file := map[string]any{"uri": p.TextDocument.URI, "version": p.TextDocument.Version}
	name, inside := strings.CutPrefix(p.TextDocument.URI, fileURI(dir)+"/")
	switch {
	case inside && strings.HasSuffix(name, ".go") && p.TextDocument.Text != nil:
		file["languageId"], file["text"] = "go", program(dir, name, *p.TextDocument.Text)
		return method, map[string]any{"textDocument": file}, nil
	case inside && strings.HasSuffix(name, ".go") && len(p.Changes) == 1:
		text := map[string]any{"text": program(dir, name, p.Changes[0].Text)}
		return method, map[string]any{"textDocument": file, "contentChanges": []any{text}}, nil
	case inside && strings.HasSuffix(name, ".go"):
		return method, params, nil
	case !inside && kind == "Open":
		return "", nil, nil
	}
	const changed, deleted = 2, 3
	event := map[string]any{"uri": p.TextDocument.URI, "type": changed}
	if kind == "Close" {
		event["type"] = deleted
	}
	return "workspace/didChangeWatchedFiles", map[string]any{"changes": []any{event}}, nil
}

// program is the text of a file of the cells' program. While a cell is being written and
// cannot be parsed, main.go holds it as it is, and other.go what cells before it have
// declared; the imports of these are the cell's, too. Otherwise there is no other.go.
func program(dir, name, text string) string {
	const other, clause = "other.go", "package main"
	declared, err := os.ReadFile(filepath.Join(dir, other))
	switch {
	case name == other && err != nil:
		return clause + "\n"
	case name == other || err != nil || !strings.HasPrefix(text, clause+"\n"):
		return text
	}
	f, err := parser.ParseFile(token.NewFileSet(), other, declared, parser.ImportsOnly)
	if err != nil {
		return text
	}
	var b strings.Builder
	b.WriteString(clause) // and all in this line, so that the cursor stays where it is
	for _, spec := range f.Imports {
		b.WriteString("; import ")
		if spec.Name != nil {
			b.WriteString(spec.Name.Name + " ")
		}
		b.WriteString(spec.Path.Value)
	}
	return b.String() + strings.TrimPrefix(text, clause)
}

func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// pipes are the server's output and input.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p pipes) Close() error { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }
