package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/internal/testall"
	"github.com/ledg-go/ledg/plots"
)

var (
	tableCommand = regexp.MustCompile("`bin/ledg (table [^`]*)`")
	tableFlags   = regexp.MustCompile("`(--[^`]*)`")
	tableWords   = regexp.MustCompile(`"[^"]*"|\S+`)
	tableRows    = regexp.MustCompile(`(?m)^\| (?:method|group) \|.*\n(?:\|.*\n)+`)
)

// Every table of methods on the pages of results is what the command before it prints, with
// the flags that are named since; -update writes its rows, and the versions below it, again.
// Without --all, the first table of each page is checked.
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
		fresh := text
		for i, at := range tableRows.FindAllStringIndex(text, -1) {
			tables++
			if i > 0 && !testall.On() && !*update {
				continue
			}
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
				printed = append(printed, strings.Join(strings.Fields(strings.TrimPrefix(line, "- ")), " "))
			}
			column := 1 // of the methods
			if strings.HasPrefix(text[at[0]:], "| group") {
				column = 2
			}
			below, _, _ := strings.Cut(strings.TrimPrefix(text[at[1]:], "\n"), "\n\n")
			for i, line := range strings.Split(text[at[0]:at[1]]+below, "\n") {
				note := !strings.HasPrefix(line, "|")
				if i == 1 || note && !strings.HasPrefix(line, "By several versions") || slices.Contains(printed, strings.Join(strings.Fields(line), " ")) { // 1 is the rule below the header
					continue
				}
				if *update {
					if j := slices.IndexFunc(printed, func(p string) bool { return rowName(line, column) == rowName(p, column) }); j >= 0 {
						fresh = strings.Replace(fresh, line+"\n", printed[j]+"\n", 1)
						continue
					}
				}
				t.Errorf("%s: %q does not print\n%s", page, args, line)
			}
		}
		if *update && fresh != text {
			if err := os.WriteFile(page, []byte(fresh), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tables < 11 {
		t.Errorf("%d tables", tables)
	}
}

// rowName is what a line of a table is of, whichever name its method has, by the column of the
// methods; of a note its first words.
func rowName(line string, column int) string {
	if cells := strings.Split(line, "|"); len(cells) > column {
		return plots.MethodName(strings.ReplaceAll(strings.TrimSpace(cells[column]), `\_`, "_"))
	}
	return line[:min(len(line), len("By several versions"))]
}

// wordsOf are the words of a command, which may be on several lines.
func wordsOf(command string) []string {
	words := tableWords.FindAllString(strings.ReplaceAll(command, "\n", " "), -1)
	for i, w := range words {
		words[i] = strings.Trim(w, `"`)
	}
	return words
}
