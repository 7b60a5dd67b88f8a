package weights

import (
	"fmt"
	"strings"
)

// AssignError lists all reasons why a state dict does not fit a network. Each entry names a
// tensor; entries of Shape and Values give got and want.
type AssignError struct {
	Missing    []string // in the network, but not in the file; with the expected shape
	Unexpected []string // in the file, but not in the network; with its shape
	Shape      []string // of another shape
	Values     []string // not floating point, not finite, or a negative variance
}

func (e *AssignError) any() bool {
	return len(e.Missing)+len(e.Unexpected)+len(e.Shape)+len(e.Values) > 0
}

// Error lists all reasons in one line.
func (e *AssignError) Error() string {
	var parts []string
	for _, p := range []struct {
		what string
		list []string
	}{
		{"missing", e.Missing}, {"unexpected", e.Unexpected}, {"wrong shape", e.Shape}, {"bad values", e.Values},
	} {
		if n := len(p.list); n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d): %s", p.what, n, strings.Join(p.list, ", ")))
		}
	}
	return "the weights do not fit the network: " + strings.Join(parts, "; ")
}
