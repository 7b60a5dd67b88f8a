package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tableCommand = regexp.MustCompile("`bin/ledg (table [^`]*)`")
	tableFlags   = regexp.MustCompile("`(--[^`]*)`")
	tableWords   = regexp.MustCompile(`"[^"]*"|\S+`)
	tableRows    = regexp.MustCompile(`(?m)^\| (?:method|group) \|.*\n(?:\|.*\n)+`)
)

// Every table of methods on the pages of results is what the command before it prints, with
// the flags that are named since.
func TestResultsAreWhatTheirCommandsPrint(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "notebooks", "results", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, at := range tableRows.FindAllStringIndex(text, -1) {
			tables++
			commands := tableCommand.FindAllStringSubmatchIndex(text[:at[0]], -1)
			if commands == nil {
				t.Errorf("%s: no command before the table\n%s", page, text[at[0]:at[1]])
				continue
			}
			last := commands[len(commands)-1]
			args := wordsOf(text[last[2]:last[3]])
			since := text[last[1]:at[0]]
			since = since[strings.LastIndex(strings.TrimRight(since, "\n"), "\n\n")+1:] // the paragraph before the table
			for _, m := range tableFlags.FindAllStringSubmatch(since, -1) {
				more := wordsOf(m[1])
				if i := slices.Index(args, more[0]); i >= 0 && len(more) == 2 {
					args[i+1] = more[1]
				} else {
					args = append(args, more...)
				}
			}
			stdout, stderr, status := call(t, root, append(args, "--format", "markdown")...)
			if status != 0 {
				t.Errorf("%s: %q: %d, %s", page, args, status, stderr)
				continue
			}
			var printed []string
			for line := range strings.Lines(stdout) {
				printed = append(printed, strings.Join(strings.Fields(line), " "))
			}
			for i, line := range strings.Split(strings.TrimSpace(text[at[0]:at[1]]), "\n") {
				if i != 1 && !slices.Contains(printed, strings.Join(strings.Fields(line), " ")) { // 1 is the rule below the header
					t.Errorf("%s: %q does not print\n%s", page, args, line)
				}
			}
		}
	}
	if tables < 11 {
		t.Errorf("%d tables", tables)
	}
}

// wordsOf are the words of a command, which may be on several lines.
func wordsOf(command string) []string {
	words := tableWords.FindAllString(strings.ReplaceAll(command, "\n", " "), -1)
	for i, w := range words {
		words[i] = strings.Trim(w, `"`)
	}
	return words
}
