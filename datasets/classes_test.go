package datasets

import (
	"strings"
	"testing"
)

func TestValidClasses(t *testing.T) {
	for _, name := range []string{"cat", "horse, or pony", "=cmd|' calc'!A0", "猫", "a b", "0", "<b>", `"x"`, "..."} {
		if err := ValidClass(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "no classes"},
		{[]string{""}, "no name"},
		{[]string{"cat", "a\nb"}, `class "a\nb" has a newline`},
		{[]string{"a\x00"}, "does not print"},
		{[]string{"a\u202eb"}, "does not print"},
		{[]string{".."}, "every folder"},
		{[]string{"a/b"}, "slash"},
		{[]string{`a\b`}, "slash"},
		{[]string{" a"}, "white space"},
		{[]string{"a\xff"}, "UTF-8"},
		{[]string{strings.Repeat("a", 201)}, "201 bytes"},
		{[]string{"cat", "dog", "cat"}, `class "cat" is there twice`},
	} {
		wantError(t, ValidClasses(c.names), c.want)
	}
}
