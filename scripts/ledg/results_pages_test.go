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
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	pageAnchor  = regexp.MustCompile(`<a id="([^"]*)">`)
	notInSlug   = regexp.MustCompile("[^a-z0-9 _-]")
)

// A results page has a finding, one paragraph of limitations, and ends with its provenance.
func TestResultsPagesHaveTheirParts(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, page := range resultsPages(t, root) {
		if filepath.Base(page) == "README.md" {
			continue
		}
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
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

// Links on results pages, and to them from README, guides, notebooks and plans, lead to files
// and anchors.
func TestLinksOfResultsPages(t *testing.T) {
	root := filepath.Join("..", "..")
	from := resultsPages(t, root)
	for _, pattern := range []string{"README.md", "notebooks/guides/*.md", "notebooks/*.ipynb", "scripts/studies/announced/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		from = append(from, more...)
	}
	links := 0
	for _, page := range from {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pageLink.FindAllStringSubmatch(string(data), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			own := filepath.Base(filepath.Dir(page)) == "results"
			if strings.Contains(m[1], "://") || !own && !strings.Contains(path, "results/") {
				continue
			}
			links++
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchorsOf(t, to), anchor) {
				t.Errorf("%s: %s has no anchor %q", page, to, anchor)
			}
		}
	}
	if links < 60 {
		t.Errorf("%d links", links)
	}
}

// anchorsOf lists the anchors of a Markdown file, as GitHub makes them of headings.
func anchorsOf(t *testing.T, path string) (list []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range pageHeading.FindAllStringSubmatch(string(data), -1) {
		list = append(list, strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	for _, m := range pageAnchor.FindAllStringSubmatch(string(data), -1) {
		list = append(list, m[1])
	}
	return list
}
