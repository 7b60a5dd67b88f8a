package ceg

import "testing"

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		came, more, bad, all int
		want                 string
	}{
		{3, 3, 0, 20, "answers: 3 new; there are 20 labels now"},
		{3, 1, 0, 18, "answers: 3 new, 2 taken back; there are 18 labels now"},
		{0, -1, 0, 19, "answers: 1 taken back; there are 19 labels now"},
		{0, 0, 2, 20, "answers: 2 for bad images; there are 20 labels now"},
		{0, 4, -1, 24, "answers: 4 known besides, 1 for images that are bad no more; there are 24 labels now"},
	} {
		if got := changes(c.came, c.more, c.bad, c.all); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
