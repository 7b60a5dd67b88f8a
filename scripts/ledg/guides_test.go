package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// block is a fenced block of a page.
type block struct {
	page string // its file
	line int    // of the fence
	kind string // such as sh
	how  string // it is run, if not by TestGuidesRun in the folder of ledg data example; see ways
	text string
	out  []string // lines of the text block that follows directly
}

// ways are the ways in which blocks of commands are run, by the words behind the kind of a block:
//
//	page [new|again] [N]   a person labels: TestGuidesRun takes the place of the browser. new is
//	                       without the run of the commands before, again continues the block
//	                       before, and N labels are given before Ctrl-C; else all are
//	serve PATH             TestGuidesRun fetches PATH from the printed addresses, then Ctrl-C
//	test TestName          by that test
//	ci                     by continuous integration, .ci/run
var ways = regexp.MustCompile(`^(?:|page(?: new| again)?(?: (\d+))?|test (Test\w+)|serve (\S+)|ci)$`)

var fence = regexp.MustCompile("(?m)^```(\\w*)(?: ([^\n]*))?\n((?s:.*?))^```$(?:\n\n```text\n((?s:.*?))^```$)?")

// blocksOf returns the blocks of README and all guides, in the order in which they are run.
func blocksOf(t *testing.T) (list []block) {
	t.Helper()
	root := filepath.Join("..", "..")
	guides, err := filepath.Glob(filepath.Join(root, "notebooks", "guides", "*.md"))
	if err != nil || len(guides) < 8 {
		t.Fatalf("%d guides, %v", len(guides), err)
	}
	first := filepath.Join(root, "notebooks", "guides", "photos.md") // makes what others use
	pages := []string{first, filepath.Join(root, "README.md")}
	for _, page := range guides {
		if page != first {
			pages = append(pages, page)
		}
	}
	for _, page := range pages {
		text := read(t, page)
		for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
			part := func(i int) string {
				if m[2*i] < 0 {
					return ""
				}
				return text[m[2*i]:m[2*i+1]]
			}
			b := block{page: filepath.Base(page), line: 1 + strings.Count(text[:m[0]], "\n"), kind: part(1), how: part(2), text: part(3)}
			if out := part(4); out != "" {
				b.out = strings.Split(strings.TrimRight(out, "\n"), "\n")
			}
			list = append(list, b)
		}
	}
	return list
}

// called finds commands of ledg in a line of a shell.
var called = regexp.MustCompile(`\bledg [a-z][^|;&()>"` + "`" + `]*`)

// commandFault returns the error of a command line of ledg, or "": its command and flags have to
// exist, by their new names.
func commandFault(root *cobra.Command, text string) string {
	root.InitDefaultCompletionCmd()
	named, rest, err := root.Find(strings.Fields(text)[1:])
	if err != nil || named == root || named.Hidden {
		return fmt.Sprintf("%q names no command: %v", text, err)
	}
	named.InitDefaultHelpFlag()
	for _, word := range rest {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !strings.HasPrefix(word, "--") {
			continue
		}
		if f := named.Flags().Lookup(name); f == nil || f.Name != name || f.Hidden {
			return fmt.Sprintf("%q has a flag --%s, which %s lacks", text, name, named.CommandPath())
		}
	}
	return ""
}

// Every command in README and guides exists with its flags, and every script is there.
func TestGuideCommands(t *testing.T) {
	root := newRootCommand()
	commands, scripts := 0, 0
	for _, b := range blocksOf(t) {
		at := fmt.Sprintf("%s:%d", b.page, b.line)
		if b.kind != "sh" {
			continue
		}
		text := strings.ReplaceAll(b.text, "\\\n", " ")
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, " #")
			for _, command := range called.FindAllString(line, -1) {
				commands++
				if fault := commandFault(root, command); fault != "" {
					t.Errorf("%s: %s", at, fault)
				}
			}
			for _, script := range regexp.MustCompile(`\bscripts/[\w./-]+\.(?:sh|yaml)\b`).FindAllString(line, -1) {
				scripts++
				if !exists(filepath.Join("..", "..", script)) {
					t.Errorf("%s: there is no %s", at, script)
				}
			}
		}
	}
	if commands < 50 || scripts < 5 {
		t.Errorf("found %d commands and %d scripts: there are more", commands, scripts)
	}
	// Commands and flags in sentences, too.
	for _, page := range pages(t, filepath.Join("..", "..")) {
		if strings.HasPrefix(page.name, "notebooks/results") {
			continue
		}
		for _, m := range regexp.MustCompile("`(ledg [a-z][^`]*)`").FindAllStringSubmatch(fenced.ReplaceAllString(page.text, ""), -1) {
			if fault := commandFault(root, strings.Join(strings.Fields(m[1]), " ")); fault != "" {
				t.Errorf("%s: %s", page.name, fault)
			}
		}
	}
}

// runLimit is the time that a block may take.
const runLimit = 10 * time.Minute

// Every block of commands in README and guides is run by something.
func TestGuidesAreRun(t *testing.T) {
	root := filepath.Join("..", "..")
	tests := map[string]string{} // the text of the files of tests
	fatal.If(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			tests[path] = read(t, path)
		}
		return err
	}))
	ci := read(t, filepath.Join(root, ".ci", "run"))
	count := 0
	for _, b := range blocksOf(t) {
		at := fmt.Sprintf("%s:%d", b.page, b.line)
		if b.kind != "sh" && b.kind != "python" {
			continue
		}
		count++
		m := ways.FindStringSubmatch(b.how)
		switch {
		case m == nil:
			t.Errorf("%s: %q is no way to run a block", at, b.how)
		case m[2] != "":
			declared := false
			for _, text := range tests {
				declared = declared || strings.Contains(text, "\nfunc "+m[2]+"(t *testing.T) {\n") && strings.Contains(text, b.page)
			}
			if !declared {
				t.Errorf("%s: no file has the test %s and names the page", at, m[2])
			}
		case b.how == "ci":
			for line := range strings.Lines(b.text) {
				command, _, _ := strings.Cut(line, " #")
				if command = strings.TrimPrefix(strings.TrimSpace(command), "./"); !strings.Contains(ci, command+" ") {
					t.Errorf("%s: .ci/run does not run %s", at, command)
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("%d blocks: there are more", count)
	}
}

// blockOf returns the block of a page that has a text.
func blockOf(t *testing.T, page, has string) block {
	t.Helper()
	for _, b := range blocksOf(t) {
		if b.page == page && strings.Contains(b.text, has) {
			return b
		}
	}
	t.Fatalf("%s has no block with %q", page, has)
	return block{}
}

// Every block of shell in README and guides without another way to run it runs as it is written,
// one after the other in the folder of ledg data example. It prints the output that the page
// shows, numbers apart.
func TestGuidesRun(t *testing.T) {
	testall.Need(t, "runs the commands of README and guides for minutes")
	pretrainedOrSkip(t)
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	fatal.If(t, os.Mkdir(bin, 0o777))
	if err := os.Symlink(ledg, filepath.Join(bin, "ledg")); err != nil {
		t.Skip("no links can be made here: ", err)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	cache := fatal.Get(os.UserCacheDir())(t)
	own := filepath.Join(dir, "cache", "ledg")
	fatal.If(t, os.MkdirAll(own, 0o777))
	fatal.If(t, os.Symlink(filepath.Join(cache, "ledg", "weights"), filepath.Join(own, "weights")))
	// Another home has no backends that were installed, so that the Go backend computes.
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir,
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOMLX_BACKEND=")
	ran, labelled := 0, annotator{dir: filepath.Join(dir, "labelled")}
	for _, b := range blocksOf(t) {
		at := fmt.Sprintf("%s:%d", b.page, b.line)
		switch {
		case b.kind == "":
			t.Errorf("%s: the block does not say what it is", at)
			continue
		case b.kind != "sh" || b.how != "" && !strings.HasPrefix(b.how, "page") && !strings.HasPrefix(b.how, "serve"):
			continue
		}
		in := filepath.Join(dir, "try")
		if !exists(in) {
			in = dir
		}
		if b.how != "" {
			ran++
			if out := labelled.run(t, b, in, env); out != "" {
				if line := missingLine(out, b.out); line != "" {
					t.Errorf("%s: the page shows the line\n%s\nwhich is not in\n%s", at, line, out)
				}
			}
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), runLimit)
		cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", b.text)
		cmd.Dir, cmd.Env = in, env
		out, err := cmd.CombinedOutput()
		cancel()
		ran++
		if err != nil {
			t.Errorf("%s: %v\n%s\n%s", at, err, b.text, out)
			continue
		}
		if line := missingLine(string(out), b.out); line != "" {
			t.Errorf("%s: the page shows the line\n%s\nwhich is not in\n%s", at, line, out)
		}
	}
	if ran < 25 {
		t.Errorf("%d blocks were run: there are more", ran)
	}
}

var (
	number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	blanks = regexp.MustCompile(`[\s-]+`)
)

// missingLine returns the first of the lines that the output lacks, or "". Numbers, spaces and
// rules of tables may be others; the lines come in order, with any others between them.
func missingLine(out string, lines []string) string {
	plain := func(s string) string {
		return strings.TrimSpace(blanks.ReplaceAllString(number.ReplaceAllString(s, "0"), " "))
	}
	rest := strings.Split(out, "\n")
	for _, line := range lines {
		i := 0
		for i < len(rest) && plain(rest[i]) != plain(line) {
			i++
		}
		if i == len(rest) {
			return line
		}
		rest = rest[i+1:]
	}
	return ""
}

// The table "How it is built" of README has every package directly under ceg, with the first
// sentence of its comment up to a colon.
func TestReadmeFolders(t *testing.T) {
	root := filepath.Join("..", "..")
	readme := read(t, filepath.Join(root, "README.md"))
	dirs := fatal.Get(filepath.Glob(filepath.Join(root, "ceg", "*")))(t)
	rows := 0
	for _, dir := range append(dirs, filepath.Join(root, "ceg")) {
		text, err := packageComment(dir)
		if err != nil || text == "" {
			continue // a file, or a folder without Go
		}
		name, _ := filepath.Rel(root, dir)
		sentence, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
		sentence, _, _ = strings.Cut(strings.TrimSuffix(sentence, "."), ":")
		sentence = strings.TrimPrefix(sentence, "Package "+filepath.Base(dir)+" ")
		want := fmt.Sprintf("| `%s` | %s |\n", filepath.ToSlash(name), sentence)
		if rows++; !strings.Contains(readme, want) {
			t.Errorf("README lacks the row\n%s", want)
		}
	}
	if got := strings.Count(readme, "\n| `ceg"); got != rows || rows > 17 {
		t.Errorf("README has %d rows of folders, ceg has %d; at most 17 are wanted", got, rows)
	}
}
