package objective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Named returns inputs by their usual names. x, u and r are the labelled, unlabelled and reliable
// images: x_weak and x_strong are weak and strong views, x_domain the source domains. Labels are y
// for labelled images and r_label, the pseudo-labels, for reliable ones.
func Named(names ...string) ([]Input, error) {
	usual := []Input{Labels("y", Labelled), Labels("r_label", Reliable)}
	for _, s := range []Subset{Labelled, Unlabelled, Reliable} {
		x := map[Subset]string{Labelled: "x", Unlabelled: "u", Reliable: "r"}[s]
		usual = append(usual, Images(x+"_weak", s, augment.WeakView), Images(x+"_strong", s, augment.StrongView), Domains(x+"_domain", s))
	}
	var list []Input
	for _, name := range names {
		i := slices.IndexFunc(usual, func(in Input) bool { return in.Name == name })
		if i < 0 {
			var all []string
			for _, in := range usual {
				all = append(all, in.Name)
			}
			return nil, fmt.Errorf("input %q, want one of %s", name, strings.Join(all, ", "))
		}
		list = append(list, usual[i])
	}
	return list, nil
}
