package plots

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// arms is the registry of how arms look, by their display names: the same in every figure, unless
// it has another arm of the same colour. The place in the list gives colour, dash and marker, so
// that no two entries look alike and those that are often drawn together have different colours.
var arms = []string{
	"CEG (published schedule)",
	"Random + CEG loss (published schedule)",
	"Random + FixMatch, upfront",
	"MaxHerding + FixMatch, upfront (preset ledg)",
	"MaxHerding + CEG loss, upfront",
	"Random + CEG loss, upfront",
	"Random + cross-entropy (published schedule)",

	"MaxHerding + FixMatch, upfront",
	"Random + cross-entropy, upfront",
	"Entropy + cross-entropy (published schedule)",
	"BADGE + cross-entropy (published schedule)",
	"CEG selection + cross-entropy (published schedule)",
	"BvSB + cross-entropy (published schedule)",
	"MaxHerding + CEG loss, upfront (preset ledg settings)",

	"MaxHerding then CEG selection + CEG loss (published schedule)",
	"Confidence + cross-entropy (published schedule)",
	"CoreSet + cross-entropy (published schedule)",
	"TypiClust + CEG loss, upfront",
	"TypiClust + FixMatch, upfront",
	"Random + MixMatch, upfront",
	"Random + MeanTeacher, upfront",

	"Random + DDAIG, upfront",
	"Random + JiGen, upfront",
	"Random + FACT, upfront",
	"Random + FixMatch, upfront (preset ledg)",
	"Random + RSC, upfront",
	"Random + CrossGrad, upfront",
	"Random + DAEL, upfront",

	"CEG (early schedule)",
	"Random + CEG loss (early schedule)",
	"MaxHerding + cross-entropy, upfront",
	"TypiClust + cross-entropy, upfront",
	"Random + logistic regression, upfront",
	"MaxHerding + logistic regression, upfront",
	"Random + StyleMatch, upfront",
}

// Arms lists the arms whose looks the registry fixes.
func Arms() []string { return slices.Clone(arms) }

// baseOf returns the place of the arm of the registry that a name is a variant of, or that it is
// with the preset paper; -1 for none.
func baseOf(name string) int {
	name = strings.Replace(strings.Replace(name, ", preset paper)", ")", 1), " (preset paper)", "", 1)
	return slices.IndexFunc(arms, func(arm string) bool { return name == arm || strings.HasPrefix(name, arm+", ") })
}

// placeOf is where an arm's look is: its place in the registry, or behind it one that follows
// from its name, in none of the colours of [keptColours].
func placeOf(arm string) int {
	if i := slices.Index(arms, arm); i >= 0 {
		return i
	}
	h := fnv.New32a()
	h.Write([]byte(arm))
	for i := int(h.Sum32() % uint32(len(arms))); ; i++ {
		if place := len(arms) + i; !slices.Contains(keptColours, place%colours) {
			return place
		}
	}
}

// colours is the number of colours in the palette of a theme.
const colours = 7

// keptColours are the places in a palette of CEG and of grey, which chance has: an arm that the registry
// does not know, such as one's own, is in neither.
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
