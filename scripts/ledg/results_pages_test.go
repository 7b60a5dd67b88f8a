package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// A results page has a finding, one paragraph of limitations, and ends with its provenance.
func TestResultsPagesHaveTheirParts(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, page := range resultsPages(t, root) {
		if filepath.Base(page) == "README.md" {
			continue
		}
		data := fatal.Get(os.ReadFile(page))(t)
		text := string(data)
		paragraphs := strings.Split(text, "\n\n")
		if len(paragraphs) < 3 || !strings.HasPrefix(paragraphs[2], "**") {
			t.Errorf("%s: the third paragraph, after title and links, is not the finding in bold", page)
		}
		if n := strings.Count(text, "\n**Limitations.** "); n != 1 {
			t.Errorf("%s: %d paragraphs of limitations, want 1", page, n)
		}
		if headings := pageHeading.FindAllStringSubmatch(text, -1); headings[len(headings)-1][1] != "Provenance" {
			t.Errorf("%s: the last section is %q, want Provenance", page, headings[len(headings)-1][1])
		}
	}
}
