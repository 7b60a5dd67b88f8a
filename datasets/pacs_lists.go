package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/datasets/regular"
)

// listed is one line of a PACS list.
type listed struct {
	entry
	file string
	line int
}

// listName is the name of a domain's official list.
func listName(domain string, s Split) string {
	if s == Val {
		return domain + "_crossval_kfold.txt"
	}
	return domain + "_train_kfold.txt"
}

// readPACSLists reads the train and crossval lists of all domains, in their own
// order, and checks that no image is listed twice.
func readPACSLists(splits fs.FS) ([]listed, error) {
	var all []listed
	for k, domain := range pacsDomains {
		for _, s := range []Split{Train, Val} {
			name := listName(domain, s)
			data, err := regular.ReadFS(splits, name, maxClasses)
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", name, regular.Bare(err))
			}
			lines, err := parsePACSList(name, data, k, s)
			if err != nil {
				return nil, err
			}
			all = append(all, lines...)
		}
	}
	seen := make(map[string]listed, len(all))
	for _, e := range all {
		if first, twice := seen[e.ID]; twice {
			return nil, fmt.Errorf("%s:%d: %s is listed already at %s:%d", e.file, e.line, e.ID, first.file, first.line)
		}
		seen[e.ID] = e
	}
	return all, nil
}

// parsePACSList reads lines of "DOMAIN/CLASS/FILE LABEL", with labels from 1.
// Blank lines are allowed.
func parsePACSList(file string, data []byte, domain int, s Split) ([]listed, error) {
	var list []listed
	sc := bufio.NewScanner(bytes.NewReader(data))
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" {
			continue
		}
		e, err := parsePACSLine(text, domain)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		e.Split = s
		list = append(list, listed{entry: e, file: file, line: line})
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

func parsePACSLine(text string, domain int) (entry, error) {
	// A file's name may contain spaces; the label is what follows the last one.
	cut := strings.LastIndexAny(text, " \t")
	if cut < 0 {
		return entry{}, fmt.Errorf("got %q, want a path and a label", text)
	}
	id, label := strings.TrimSpace(text[:cut]), text[cut+1:]
	n, err := strconv.Atoi(label)
	if err != nil || n < 1 || n > len(pacsClasses) {
		return entry{}, fmt.Errorf("label %q of %s is not in 1..%d", label, id, len(pacsClasses))
	}
	parts := strings.Split(id, "/")
	if len(parts) != 3 || !fs.ValidPath(id) {
		return entry{}, fmt.Errorf("path %q is not DOMAIN/CLASS/FILE", id)
	}
	if parts[0] != pacsDomains[domain] {
		return entry{}, fmt.Errorf("%s is of another domain than the list, %s", id, pacsDomains[domain])
	}
	if want := pacsClasses[n-1]; parts[1] != want {
		return entry{}, fmt.Errorf("label %d means %s, but the folder of %s is %s", n, want, id, parts[1])
	}
	return entry{Example: Example{ID: id, Domain: domain}, class: n - 1}, nil
}

// testListDifferences compares the union of train and crossval with the test
// lists, which hold whole domains. The test lists are not needed, so one that is
// missing is fine.
func testListDifferences(splits fs.FS, lists []listed) []string {
	var diffs []string
	for k, domain := range pacsDomains {
		name := domain + "_test_kfold.txt"
		data, err := regular.ReadFS(splits, name, maxClasses)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var test []listed
		if err == nil {
			test, err = parsePACSList(name, data, k, Val)
		}
		if err != nil {
			diffs = append(diffs, fmt.Sprintf("the list %s, which is not used, cannot be read: %v", name, err))
			continue
		}
		var union, whole []string
		for _, e := range lists {
			if e.Domain == k {
				union = append(union, e.ID)
			}
		}
		for _, e := range test {
			whole = append(whole, e.ID)
		}
		slices.Sort(union)
		slices.Sort(whole)
		if !slices.Equal(union, whole) {
			diffs = append(diffs, fmt.Sprintf("%s has %d images, but not the %d of the train and crossval lists together",
				name, len(whole), len(union)))
		}
	}
	return diffs
}
