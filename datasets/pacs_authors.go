package datasets

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/ledg-go/ledg/datasets/pymt"
)

// PACSLists finds the folder of the official PACS lists in an image root, as PACS
// does.
func PACSLists(fsys fs.FS) (fs.FS, error) {
	roots := []fs.FS{fsys}
	if dir, err := pacsImages(fsys); err == nil {
		if images, err := fs.Sub(fsys, dir); err == nil {
			roots = append(roots, images)
		}
	}
	return findPACSLists(roots...)
}

// AuthorsInitialSplit returns the examples of PACS that the published CEG code
// labels before training, and the rest of its pool, both in its order. The lists
// are the folder of the official lists; sources are the source domains in the
// order of the authors' command line, which matters and is known for the target
// art_painting only: sketch, photo, cartoon. Percent is the initial part of the
// pool, 2.5 in the paper; floor(percent*n/100) of n examples are labelled.
//
// Source: authors' datasets/ssdg_pacs.py. With Python's generator, the train
// list of every source is shuffled class by class, then all together.
func AuthorsInitialSplit(lists fs.FS, sources []string, seed uint64, percent float64) (labelled, unlabelled []string, err error) {
	if !(percent >= 0 && percent <= 100) {
		return nil, nil, fmt.Errorf("authors' PACS split: %v percent is not in 0..100", percent)
	}
	all, err := readPACSLists(lists)
	if err != nil {
		return nil, nil, fmt.Errorf("authors' PACS split: %w", err)
	}
	random := pymt.New(seed)
	shuffle := func(ids []string) {
		random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	}
	var pool []string
	for i, name := range sources {
		k := slices.Index(pacsDomains, name)
		if k < 0 || slices.Contains(sources[:i], name) {
			return nil, nil, fmt.Errorf("authors' PACS split: source %q is not a domain of PACS, or is named twice", name)
		}
		groups := make([][]string, len(pacsClasses))
		var order []int // classes as they first appear
		for _, e := range all {
			if e.Domain != k || e.Split != Train || e.ID == pacsBadFile {
				continue
			}
			if len(groups[e.class]) == 0 {
				order = append(order, e.class)
			}
			groups[e.class] = append(groups[e.class], e.ID)
		}
		for _, c := range order {
			shuffle(groups[c])
			pool = append(pool, groups[c]...)
		}
	}
	shuffle(pool)
	n := int(percent * float64(len(pool)) / 100)
	return pool[:n:n], pool[n:], nil
}
