package plots

import (
	"regexp"
	"slices"
	"strings"
)

// methods is the registry of what methods are called and how they look: the same in every
// figure. The place in the list gives colour, dash and marker, so that no two entries look
// alike and those that are often drawn together have different colours.
var methods = []struct{ label, title string }{
	{"ceg", "CEG"},
	{"uniform", "Uniform"},
	{"fixmatch", "FixMatch"},
	{"typiclust", "TypiClust"},
	{"badge", "BADGE"},
	{"maxherding", "MaxHerding"},
	{"uniform-ce", "Uniform (cross-entropy)"},

	{"ceg-ce", "CEG's choice (cross-entropy)"},
	{"coreset-ce", "CoreSet (cross-entropy)"},
	{"mixmatch", "MixMatch"},
	{"meanteacher", "MeanTeacher"},
	{"badge-ce", "BADGE (cross-entropy)"},
	{"entropy-ce", "Entropy (cross-entropy)"},
	{"bvsb-ce", "BvSB (cross-entropy)"},

	{"confidence-ce", "Confidence (cross-entropy)"},
	{"jigen", "JiGen"},
	{"fact", "FACT"},
	{"ddaig", "DDAIG"},
	{"rsc", "RSC"},
	{"crossgrad", "CrossGrad"},
	{"dael", "DAEL"},

	{"uherding", "UHerding"},
	{"probcover", "ProbCover"},
	{"coreset", "CoreSet"},
	{"entropy", "Entropy"},
	{"bvsb", "BvSB"},
	{"confidence", "Confidence"},
	{"stylematch", "StyleMatch"},

	{"ceg-batch", "CEG, spread batches"},
	{"ceg-balanced", "CEG, balanced"},
	{"kmeans", "k-means"},
	{"bait", "BAIT"},
	{"dropquery", "DropQuery"},
	{"tcm", "TCM"},
	{"freematch", "FreeMatch"},
	{"gda", "GDA"},
	{"stylematch-amplitude", "StyleMatch (amplitude)"},
	{"stylematch-rgb", "StyleMatch (RGB)"},
}

// notations are the field's symbols for what labels spell in ASCII; _{...} is a subscript.
var notations = map[string]string{
	"L_ce": "L_{ce}", "L_ac": "L_{ac}", "L_eg": "L_{eg}", "L_ss": "L_{ss}", "L_dd": "L_{dd}",
	"S_u": "S_{u}", "S_r": "S_{r}", "S_d": "S_{d}", "M_intra": "M_{intra}", "M_inter": "M_{inter}",
	"gamma1": "γ_{1}", "gamma2": "γ_{2}", "delta": "δ", "tau": "τ", "lambda": "λ", "T_ini": "T_{ini}", "T_fin": "T_{fin}",
}

var symbolWord = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*`)

// Symbols writes the names of quantities in a text, such as L_eg and gamma1, as the field
// does, for labels of axes and legends.
func Symbols(text string) string {
	return symbolWord.ReplaceAllStringFunc(text, func(w string) string {
		if s, ok := notations[w]; ok {
			return s
		}
		return w
	})
}

// MethodTitle is what figures call a method with a label such as "uniform-ce" or
// "ceg w/o S_u"; a label that begins with no known method keeps its words.
func MethodTitle(label string) string {
	return Symbols(MethodName(label))
}

// MethodName is MethodTitle with quantities in ASCII, as they are typed: for tables.
func MethodName(label string) string {
	if rest, ok := strings.CutSuffix(label, " ledg"); ok && !strings.HasSuffix(rest, " preset") {
		return "ledg: " + MethodName(rest)
	}
	label = strings.Replace(strings.TrimSuffix(label, " authors"), " authors, ", ", ", 1)
	end := strings.IndexAny(label, " ,+")
	if end < 0 {
		end = len(label)
	}
	head, tail := label[:end], label[end:]
	if i := methodIndex(head); i >= 0 {
		head = methods[i].title
	}
	if more, ok := strings.CutPrefix(tail, "+"); ok {
		if objective := MethodName(more); objective != "CEG" {
			tail = " (" + objective + ")"
		} else {
			tail = ""
		}
	}
	if trained := strings.LastIndex(head, " ("); trained > 0 && strings.HasPrefix(tail, " ") { // the timing goes before it
		end := len(tail)
		for _, next := range []string{",", " ("} {
			if i := strings.Index(tail, next); i >= 0 {
				end = min(end, i)
			}
		}
		head, tail = head[:trained]+tail[:end]+head[trained:], tail[end:]
	}
	return head + tail
}

// methodIndex is the place of a label in the registry, -1 for none.
func methodIndex(label string) int {
	return slices.IndexFunc(methods, func(m struct{ label, title string }) bool { return m.label == label })
}
