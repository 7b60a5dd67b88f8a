package plots

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// baseOf returns the place of the arm of the theme that a name is a variant of, or that it is with
// the preset paper; -1 for none.
func (l *looks) baseOf(name string) int {
	name = strings.Replace(strings.Replace(name, ", preset paper)", ")", 1), " (preset paper)", "", 1)
	return slices.IndexFunc(l.theme.Arms, func(arm string) bool { return name == arm || strings.HasPrefix(name, arm+", ") })
}

// placeOf is where an arm's look is: its place in the theme's list, or behind all of them one that
// follows from its name, in none of the colours of [keptColours].
func (l *looks) placeOf(arm string) int {
	if i := slices.Index(l.theme.Arms, arm); i >= 0 {
		return i
	}
	h := fnv.New32a()
	h.Write([]byte(arm))
	for i := int(h.Sum32() % maxArms); ; i++ {
		if place := maxArms + i; !slices.Contains(keptColours, place%colours) {
			return place
		}
	}
}

// maxArms is the most arms of a theme.
const maxArms = 5 * colours

// colours is the number of colours in the palette of a theme.
const colours = 7

// keptColours are the places in a palette of CEG and of grey, which chance has: an arm that the theme
// does not list, such as one's own, is in neither.
var keptColours = []int{0, 6}

// notations are the field's symbols for what labels spell in ASCII; _{...} is a subscript.
var notations = map[string]string{
	"L_ce": "L_{ce}", "L_ac": "L_{ac}", "L_eg": "L_{eg}", "L_ss": "L_{ss}", "L_dd": "L_{dd}",
	"S_u": "S_{u}", "S_r": "S_{r}", "S_d": "S_{d}", "M_intra": "M_{intra}", "M_inter": "M_{inter}",
	"gamma1": "γ_{1}", "gamma2": "γ_{2}", "delta": "δ", "tau": "τ", "lambda": "λ", "T_ini": "T_{ini}", "T_fin": "T_{fin}",
}

var symbolWord = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*`)

// Symbols replaces names of quantities in a text, such as L_eg and gamma1, by symbols, for axis
// labels and legends.
func Symbols(text string) string {
	return symbolWord.ReplaceAllStringFunc(text, func(w string) string {
		if s, ok := notations[w]; ok {
			return s
		}
		return w
	})
}
