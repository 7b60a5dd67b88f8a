package emoji

// Classes returns the class names, in index order.
func Classes() []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.class
	}
	return names
}

// Domains returns the names of the artists' sets, in index order.
func Domains() []string { return []string{"fluent", "noto", "openmoji", "twemoji"} }

// ClassOf returns the class of a subgroup of Unicode's emoji list, spelled as in emoji-data; ok
// is false for subgroups that the data set leaves out.
func ClassOf(subgroup string) (class string, ok bool) {
	for _, g := range groups {
		for _, s := range g.subgroups {
			if s == subgroup {
				return g.class, true
			}
		}
	}
	return "", false
}

// groups has the subgroups of every class.
var groups = []struct {
	class     string
	subgroups []string
}{
	{"bird", []string{"animal-bird"}},
	{"building", []string{"place-building", "place-religious"}},
	{"clothing", []string{"clothing"}},
	{"creature", []string{"animal-amphibian", "animal-bug", "animal-marine", "animal-reptile"}},
	{"device", []string{"computer", "light & video", "musical-instrument", "phone"}},
	{"dish", []string{"food-asian", "food-prepared", "food-sweet"}},
	{"drink", []string{"dishware", "drink"}},
	{"face", []string{"face-affection", "face-concerned", "face-glasses", "face-hand", "face-hat", "face-negative",
		"face-neutral-skeptical", "face-sleepy", "face-smiling", "face-tongue", "face-unwell"}},
	{"hand", []string{"hand-fingers-closed", "hand-fingers-open", "hand-fingers-partial", "hand-prop",
		"hand-single-finger", "hands"}},
	{"mammal", []string{"animal-mammal"}},
	{"office", []string{"book-paper", "mail", "office"}},
	{"plant", []string{"plant-flower", "plant-other"}},
	{"produce", []string{"food-fruit", "food-vegetable"}},
	{"tool", []string{"household", "tool"}},
	{"transport", []string{"transport-air", "transport-ground", "transport-water"}},
	{"weather", []string{"sky & weather"}},
}
