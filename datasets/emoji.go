package datasets

import (
	"io/fs"
	"path"
	"slices"

	"github.com/ledg-go/ledg/datasets/emoji"
)

// emojiConcept names the emoji that an image shows: the same in all domains.
const emojiConcept = `([^/]+)\.webp$`

// Emoji returns the embedded data set of emoji by four artists, the domains (see package emoji).
// opts.Seed draws the split by emoji: one that is Val is Val in all domains, so the Val images
// of a target domain show emoji that no training image shows.
func Emoji(opts Options) (*Dataset, Truth, error) {
	files, err := emoji.Open()
	if err != nil {
		return nil, Truth{}, err
	}
	paths, err := emoji.List()
	if err != nil {
		return nil, Truth{}, err
	}
	sums, err := emoji.Digests()
	if err != nil {
		return nil, Truth{}, err
	}
	d, truth, err := embedded(&Dataset{Name: "emoji", Domains: emoji.Domains(), Classes: emoji.Classes()}, files, paths, emojiConcept, opts)
	if err == nil {
		d.source.(*fileSource).kept = func(id string) digest { return sums[id] }
	}
	return d, truth, err
}

// embedded fills in d from files whose paths are domain/class/name. Unless opts has groups, the split is
// by those of a rule.
func embedded(d *Dataset, files fs.FS, paths []string, rule string, opts Options) (*Dataset, Truth, error) {
	var entries []entry
	for _, p := range paths {
		if slices.Contains(opts.Exclude, p) {
			continue
		}
		class := path.Dir(p)
		entries = append(entries, entry{
			Example: Example{ID: p, Domain: slices.Index(d.Domains, path.Dir(class))},
			class:   slices.Index(d.Classes, path.Base(class)),
		})
	}
	g := opts.groups
	if g == nil {
		var err error
		if g, err = newGrouper(rule, nil); err != nil {
			return nil, Truth{}, err
		}
	}
	splitByGroup(entries, opts.Seed, g)
	return assemble(d, files, entries)
}
