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

// A results page has a finding of one sentence, a figure, one paragraph of limitations, and ends with its provenance. All
// pages together are short.
func TestResultsPagesHaveTheirParts(t *testing.T) {
	root, words := filepath.Join("..", ".."), 0
	for _, page := range resultsPages(t, root) {
		data := fatal.Get(os.ReadFile(page))(t)
		text := string(data)
		if words += len(strings.Fields(text)); filepath.Base(page) == "README.md" {
			continue
		}
		paragraphs := strings.Split(text, "\n\n")
		if len(paragraphs) < 3 || !strings.HasPrefix(paragraphs[2], "**") {
			t.Errorf("%s: the third paragraph, after title and links, is not the finding in bold", page)
		} else if n := len(strings.Fields(paragraphs[2])); n > 30 || !strings.HasSuffix(paragraphs[2], "**") || len(ends.FindAllString(paragraphs[2]+" ", -1)) > 1 {
			t.Errorf("%s: the finding is not one bold sentence of at most 30 words, but has %d:\n%s", page, n, paragraphs[2])
		}
		if !strings.Contains(text, "](figures/") {
			t.Errorf("%s has no figure", page)
		}
		if n := strings.Count(text, "\n**Limitations.** "); n != 1 {
			t.Errorf("%s: %d paragraphs of limitations, want 1", page, n)
		}
		if headings := pageHeading.FindAllStringSubmatch(text, -1); headings[len(headings)-1][1] != "Provenance" {
			t.Errorf("%s: the last section is %q, want Provenance", page, headings[len(headings)-1][1])
		}
	}
	if pages := len(resultsPages(t, root)); pages > 12 || words > 10_000 {
		t.Errorf("%d pages of %d words, want at most 12 of 10,000", pages, words)
	}
}
