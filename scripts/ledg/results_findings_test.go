package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var linkedText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// The findings table of the README is what the command prints from the records. Its questions have links to
// their pages. -update writes the rows again, and keeps the links.
func TestFindingsOfReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	stdout, stderr, status := call(t, root, "table", "findings", "--dir", "notebooks/results", "--format", "markdown")
	if status != 0 {
		t.Fatalf("%d, %s", status, stderr)
	}
	path := filepath.Join(root, "README.md")
	data := fatal.Get(os.ReadFile(path))(t)
	_, section, _ := strings.Cut(string(data), "\n## Findings\n")
	section, _, _ = strings.Cut(section, "\n## ")
	want, got := tableLines(stdout), tableLines(section)
	if len(want) < 6 || len(want) > 16 { // head, rule, and at most fourteen rows
		t.Errorf("%d lines: want 4 to 14 findings", len(want)-2)
	}
	if len(got) != len(want) {
		t.Fatalf("README has %d lines of findings, the command prints %d:\n%s", len(got), len(want), strings.Join(want, "\n"))
	}
	fresh := string(data)
	for i, line := range want {
		if i == 1 {
			continue // the rule below the head
		}
		switch link := linkedText.FindStringSubmatch(got[i]); {
		case i > 1 && link == nil && !strings.HasPrefix(line, "| |"):
			t.Errorf("no link to a results page: %s", got[i])
		case linkedText.ReplaceAllString(got[i], "$1") == line:
		case *update && i > 1 && link != nil:
			question := strings.TrimSpace(strings.Split(line, "|")[1])
			fresh = strings.Replace(fresh, got[i], strings.Replace(line, question, strings.Replace(link[0], link[1], question, 1), 1), 1)
		default:
			t.Errorf("README has\n%s\nthe records have\n%s", got[i], line)
		}
	}
	if fresh != string(data) {
		fatal.If(t, os.WriteFile(path, []byte(fresh), 0o666))
	}
}

// tableLines are the lines of tables in a text, with one space between cells.
func tableLines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			list = append(list, manySpaces.ReplaceAllString(line, " "))
		}
	}
	return list
}
