package notebooks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)|\b(?:href|src)="([^"]+)"`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	mdAnchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	mdNoSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// slugs are the anchors of a page: those of its headings, as GitHub makes them, and its own.
func slugs(page string) (list []string) {
	for _, m := range mdHeading.FindAllStringSubmatch(page, -1) {
		list = append(list, strings.ReplaceAll(mdNoSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	for _, m := range mdAnchor.FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

// Every link of a page to a file of the repository, or to a heading, leads somewhere.
func TestLinks(t *testing.T) {
	links := 0
	fatal.If(t, filepath.WalkDir("..", func(page string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "runs" || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return fs.SkipDir
		}
		book := filepath.Ext(page) == ".ipynb"
		if filepath.Ext(page) != ".md" && !book {
			return nil
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			link := m[1] + m[2]
			if strings.Contains(link, "://") || book && !strings.Contains(m[1], "results/") {
				continue
			}
			links++
			path, anchor, _ := strings.Cut(link, "#")
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, link)
				continue
			}
			if anchor == "" {
				continue
			}
			if text, err := os.ReadFile(to); err != nil || !slices.Contains(slugs(string(text)), anchor) {
				t.Errorf("%s: %s has no heading #%s", page, to, anchor)
			}
		}
		return nil
	}))
	if links < 50 {
		t.Errorf("%d links, want the README's and the results'", links)
	}
}
