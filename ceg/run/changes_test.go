package run

import "testing"

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		came, more, bad, all int
		want                 string
	}{
		{3, 3, 0, 20, "labels changed: 3 new; there are 20 labels now"},
		{3, 1, 0, 18, "labels changed: 3 new, 2 withdrawn; there are 18 labels now"},
		{0, -1, 0, 19, "labels changed: 1 withdrawn; there are 19 labels now"},
		{0, 0, 2, 20, "labels changed: 2 marked bad; there are 20 labels now"},
		{0, 4, -1, 24, "labels changed: 4 known already, 1 no longer bad; there are 24 labels now"},
	} {
		if got := changes(c.came, c.more, c.bad, c.all); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
