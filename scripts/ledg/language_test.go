package main

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var strict = flag.Bool("language.strict", false, "check texts that are excepted, too")

// Limits of texts.
const (
	maxSentence     = 35 // words
	maxHelpSentence = 25 // words of help texts
	maxReadmeLines  = 180
	maxReadmeBytes  = 10_000
	maxGuideLines   = 250
	maxResultsWords = 800
)

// textToRead is a text for readers: a page, a help text, or a comment.
type textToRead struct {
	name string // its file, "help COMMAND", "package PATH" or "comment PATH: SYMBOL"
	text string
}

// README, guides, results pages, help texts, package comments and the comments of exported
// symbols use the field's words, in short sentences, on short pages. testdata/language/except.txt lists the texts that do not
// yet; go test ./scripts/ledg -run TestLanguage -language.strict checks these, too.
func TestLanguage(t *testing.T) {
	root := filepath.Join("..", "..")
	excepted := map[string]bool{}
	for _, name := range listed(t, "except.txt") {
		excepted[name] = true
	}
	words := replacedWords(t)
	texts := slices.Concat(pages(t, root), helpTexts(), packageComments(t, root), symbolComments(t, root))
	if len(texts) < 2000 {
		t.Fatalf("there are only %d texts", len(texts))
	}
	for _, name := range []string{"README.md", "notebooks/guides/photos.md", "notebooks/results/preset.md", "help ledg train",
		"help ledg train --budget", "package ceg", "comment ceg: Run", "comment ceg/config: Config.Format"} {
		if !slices.ContainsFunc(texts, func(x textToRead) bool { return x.name == name }) {
			t.Errorf("%s is not checked", name)
		}
	}
	for _, x := range texts {
		faults := faultsOf(x, words)
		switch {
		case excepted[x.name] && len(faults) == 0:
			t.Logf("%s has no faults: take it out of testdata/language/except.txt", x.name)
		case !excepted[x.name] || *strict:
			for _, f := range faults {
				t.Errorf("%s: %s", x.name, f)
			}
		}
		delete(excepted, x.name)
	}
	for name := range excepted {
		t.Logf("testdata/language/except.txt lists %s, which does not exist", name)
	}
}

// The check finds what it is for.
func TestLanguageFindsFaults(t *testing.T) {
	words := replacedWords(t)
	long := strings.Repeat("word ", maxSentence) + "word."
	for _, tt := range []struct {
		name, text string
		want       string
	}{
		{"help x", "It is told from the others.", `"told"`},
		{"help x", "Choose what computes it.", `"what computes"`},
		{"help x", "One. " + long + " Two.", "36 words"},
		{"help x", "One\nwraps. " + strings.Repeat("word ", 20) + "\n" + strings.Repeat("word ", 17) + "end.", "38 words"},
		{"README.md", strings.Repeat("a\n", maxReadmeLines+1), "181 lines"},
		{"README.md", strings.Repeat("Some words. ", 1000), "12000 bytes"},
		{"notebooks/guides/x.md", strings.Repeat("a\n", maxGuideLines+1), "251 lines"},
		{"notebooks/results/x.md", strings.Repeat("One word. ", 401), "802 words"},
		{"notebooks/results/x.md", strings.Repeat("One word. ", 400) + "\n\n" + strings.Repeat("| One | word |\n", 50), ""},
		{"help x", "A plain sentence. See `told` and a | told | table.\n", ""},
		{"x.md", "Text.\n\n```\ntold\n```\n\n| told | " + long + " |\n", ""},
		{"package x", "Text.\n\n\ttold " + long + "\n", ""},
		{"package x", "It does e.g. this. " + strings.Repeat("word ", 30) + "end.", ""},
		{"x.md", "- " + strings.Repeat("word ", 20) + "\n- " + strings.Repeat("word ", 20) + "\n", ""},
	} {
		got := strings.Join(faultsOf(textToRead{tt.name, tt.text}, words), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%.60q: faults %q, want %q", tt.text, got, tt.want)
		}
	}
}

// replacedWord is a word that texts do not use.
type replacedWord struct {
	word    *regexp.Regexp
	instead string
}

// listed reads the lines of a list in testdata/language.
func listed(t *testing.T, name string) (lines []string) {
	t.Helper()
	f := fatal.Get(os.Open(filepath.Join("testdata", "language", name)))(t)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func replacedWords(t *testing.T) (words []replacedWord) {
	t.Helper()
	for _, line := range listed(t, "words.txt") {
		word, instead, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("words.txt: %q has no tab", line)
		}
		words = append(words, replacedWord{regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(word, " ", `\s+`) + `)\b`), instead})
	}
	return words
}

// pages are README and its neighbours, guides and results pages.
func pages(t *testing.T, root string) (texts []textToRead) {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "scripts/studies/README.md"}
	for _, pattern := range []string{"notebooks/guides/*.md", "notebooks/results/*.md"} {
		more := fatal.Get(fs.Glob(os.DirFS(root), pattern))(t)
		names = append(names, more...)
	}
	for _, name := range names {
		data := fatal.Get(os.ReadFile(filepath.Join(root, name)))(t)
		texts = append(texts, textToRead{name, string(data)})
	}
	return texts
}

// helpTexts are those of all commands and flags.
func helpTexts() (texts []textToRead) {
	everyCommand(func(cmd *cobra.Command) {
		name := "help " + cmd.CommandPath()
		texts = append(texts, textToRead{name, cmd.Short + "\n\n" + cmd.Long})
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			texts = append(texts, textToRead{name + " --" + f.Name, f.Usage})
		})
	})
	return texts
}

// eachFolder calls fn for the folders below some of the repository that can hold packages.
func eachFolder(t *testing.T, root string, tops []string, fn func(path, name string) error) {
	t.Helper()
	for _, top := range tops {
		fatal.If(t, filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if name := d.Name(); name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			return fn(path, filepath.ToSlash(rel))
		}))
	}
}

// packageComments are the comments of all packages of the repository.
func packageComments(t *testing.T, root string) (texts []textToRead) {
	t.Helper()
	eachFolder(t, root, []string{"ceg", "datasets", "plots", "notebooks", "scripts"}, func(path, name string) error {
		text, err := packageComment(path)
		if text != "" {
			texts = append(texts, textToRead{"package " + name, text})
		}
		return err
	})
	return texts
}

// symbolComments are the comments of the exported symbols of the library's packages, with
// those of exported fields and methods.
func symbolComments(t *testing.T, root string) (texts []textToRead) {
	t.Helper()
	eachFolder(t, root, []string{"ceg", "datasets", "plots", "notebooks/nb"}, func(path, name string) error {
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, c := range exportedComments(f) {
				texts = append(texts, textToRead{"comment " + name + ": " + c.name, c.text})
			}
		}
		return nil
	})
	return texts
}

// exportedComments returns the comments of a file's exported symbols by their names.
func exportedComments(f *ast.File) (list []textToRead) {
	ast.FileExports(f)
	within := ""
	add := func(name string, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g != nil {
				list = append(list, textToRead{name, g.Text()})
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name.Name, n.Doc)
			return false
		case *ast.GenDecl:
			within = "declaration"
			add(within, n.Doc)
		case *ast.ValueSpec:
			add(n.Names[0].Name, n.Doc, n.Comment)
		case *ast.TypeSpec:
			within = n.Name.Name
			add(within, n.Doc, n.Comment)
		case *ast.Field:
			if len(n.Names) > 0 {
				add(within+"."+n.Names[0].Name, n.Doc, n.Comment)
			}
		}
		return true
	})
	return list
}

// packageComment returns the comment of the package in a folder, or "".
func packageComment(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	var all []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		if f.Doc != nil {
			all = append(all, f.Doc.Text())
		}
	}
	return strings.Join(all, "\n\n"), nil
}

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```[^\n]*$")
	code     = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\([^)]*\)`)
	table    = regexp.MustCompile(`(?m)^\s*\|.*$`)
	cell     = regexp.MustCompile(`\|[^|\n]*\|`)
	indented = regexp.MustCompile(`(?m)^(\t| {2,}).*$`)
	item     = regexp.MustCompile(`(?m)^\s*([-*]|\d+\.) `)
	comment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	ends     = regexp.MustCompile(`[.!?:][)"'*_]*\s`)
	short    = regexp.MustCompile(`\b(e\.g|i\.e|et al|vs|cf|Fig|Eq|No|resp)\.`)
)

// prose returns the sentences of a text without code, tables and addresses. Paragraphs, items
// and headings end sentences.
func prose(text string) []string {
	text = fenced.ReplaceAllString(comment.ReplaceAllString(text, ""), "\n\n")
	text = cell.ReplaceAllString(table.ReplaceAllString(text, ""), "")
	text = item.ReplaceAllString(indented.ReplaceAllStringFunc(text, func(line string) string {
		if item.MatchString(line) { // of a nested list
			return line
		}
		return "\n"
	}), "\n\n")
	text = short.ReplaceAllString(link.ReplaceAllString(code.ReplaceAllString(text, "X"), "]"), "$1")
	var sentences []string
	for _, paragraph := range regexp.MustCompile(`\n\s*\n|\n#`).Split(text, -1) {
		for _, s := range ends.Split(paragraph+" ", -1) {
			if s = strings.Join(strings.Fields(s), " "); s != "" {
				sentences = append(sentences, s)
			}
		}
	}
	return sentences
}

// faultsOf lists the faults of a text.
func faultsOf(x textToRead, words []replacedWord) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	most := maxSentence
	if strings.HasPrefix(x.name, "help ") {
		most = maxHelpSentence
	}
	for _, s := range prose(x.text) {
		if n := len(strings.Fields(s)); n > most {
			fault("a sentence of %d words, want at most %d: %.80s...", n, most, s)
		}
		for _, w := range words {
			if found := w.word.FindString(s); found != "" {
				fault("%q, write %q: %.120s", found, w.instead, s)
			}
		}
	}
	// Words are what white space separates: all of a page counts but the rows of its tables.
	lines, size, count := strings.Count(x.text, "\n"), len(x.text), len(strings.Fields(table.ReplaceAllString(x.text, "")))
	switch dir := filepath.ToSlash(filepath.Dir(x.name)); {
	case x.name == "README.md":
		if lines > maxReadmeLines || size > maxReadmeBytes {
			fault("%d lines and %d bytes, want at most %d and %d", lines, size, maxReadmeLines, maxReadmeBytes)
		}
	case dir == "notebooks/guides" && lines > maxGuideLines:
		fault("%d lines, want at most %d", lines, maxGuideLines)
	case dir == "notebooks/results" && count > maxResultsWords:
		fault("%d words, want at most %d", count, maxResultsWords)
	}
	return faults
}
