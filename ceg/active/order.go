package active

import (
	"cmp"
	"slices"
)

// precedence is an order of rows whose scores are equal: [Ties] in a query.
type precedence interface{ before(a, b int) bool }

// highest returns the row of those that are not done with the highest value, of
// equal ones the first in the order of p, or -1 if all are done. A value without
// done holds for all rows.
func highest[T cmp.Ordered](values []T, done []bool, p precedence) int {
	at := -1
	for i, v := range values {
		if done != nil && done[i] {
			continue
		}
		if at < 0 || v > values[at] || v == values[at] && p.before(i, at) {
			at = i
		}
	}
	return at
}

// Some returns at most n of the rows 0 to len(t.IDs)-1, increasing. They are the first in the
// order of ties: a random draw that depends only on the IDs and the seed.
func (t Ties) Some(n int) []int {
	rows := make([]int, len(t.IDs))
	for i := range rows {
		rows[i] = i
	}
	if n < len(rows) {
		t.sort(rows)
		rows = rows[:n]
		slices.Sort(rows)
	}
	return rows
}
