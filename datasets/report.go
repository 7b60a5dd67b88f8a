package datasets

// Count is a number of examples in each split.
type Count struct {
	Train int `json:"train"`
	Val   int `json:"val"`
}

// countCells counts the examples of every domain and class.
func countCells(d *Dataset, t Truth) [][]Count {
	counts := make([][]Count, len(d.Domains))
	for k := range counts {
		counts[k] = make([]Count, len(d.Classes))
	}
	for i, e := range d.Examples {
		cell := &counts[e.Domain][t.Class(i)]
		if e.Split == Train {
			cell.Train++
		} else {
			cell.Val++
		}
	}
	return counts
}
