package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

var (
	tableCommand = regexp.MustCompile("(?m)^bin/ledg (table [^`]*)$\n```")
	tableWords   = regexp.MustCompile(`"[^"]*"|[^\s\\]+`)
	tableRows    = regexp.MustCompile(`(?m)^\| (?:method|group|in the paper|question *\| data, labels) *\|.*\n(?:\|.*\n)+`)
	manySpaces   = regexp.MustCompile(` {2,}|-{4,}`)
)

// Every table of methods on a results page is what the last command before it prints. -update
// writes the tables again. Without --all, the first table of each page is checked.
func TestResultsAreWhatTheirCommandsPrint(t *testing.T) {
	root := filepath.Join("..", "..")
	tables := 0
	for _, page := range resultsPages(t, root) {
		data := fatal.Get(os.ReadFile(page))(t)
		text := string(data)
		fresh := text
		for i, at := range tableRows.FindAllStringIndex(text, -1) {
			tables++
			if i > 0 && !testall.On() && !*update {
				continue
			}
			commands := tableCommand.FindAllStringSubmatch(text[:at[0]], -1)
			if commands == nil {
				t.Errorf("%s: no command before the table\n%s", page, text[at[0]:at[1]])
				continue
			}
			args := wordsOf(commands[len(commands)-1][1])
			stdout, stderr, status := call(t, root, append(args, "--format", "markdown")...)
			if status != 0 {
				t.Errorf("%s: %q: %d, %s", page, args, status, stderr)
				continue
			}
			// Pages have one space between cells, commands have columns of one width.
			var printed []string
			for _, table := range tableRows.FindAllString(stdout, -1) {
				printed = append(printed, manySpaces.ReplaceAllStringFunc(table, func(s string) string {
					if s[0] == '-' {
						return "---"
					}
					return " "
				}))
			}
			switch got := text[at[0]:at[1]]; {
			case slices.Contains(printed, got):
			case *update && len(printed) == 1:
				fresh = strings.Replace(fresh, got, printed[0], 1)
			default:
				t.Errorf("%s: %q does not print\n%s\nbut\n%s", page, args, got, strings.Join(printed, "\n"))
			}
		}
		if fresh != text {
			fatal.If(t, os.WriteFile(page, []byte(fresh), 0o666))
		}
	}
	if tables < 11 {
		t.Errorf("%d tables", tables)
	}
}

// resultsPages are the paths of all results pages.
func resultsPages(t *testing.T, root string) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "notebooks", "results", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d results pages, %v", len(pages), err)
	}
	return pages
}

// wordsOf splits a command, which may be on several lines, into its words.
func wordsOf(command string) []string {
	words := tableWords.FindAllString(strings.ReplaceAll(command, "\n", " "), -1)
	for i, w := range words {
		words[i] = strings.Trim(w, `"`)
	}
	return words
}
