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
	// Looks names the network that the file seems to be for, or is empty.
	Looks string
}

func (e *AssignError) any() bool {
	return len(e.Missing)+len(e.Unexpected)+len(e.Shape)+len(e.Values) > 0
}

// Error lists all reasons in one line, after the network of Looks.
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
	msg := "the weights do not fit the network"
	if e.Looks != "" {
		msg += " (they look like " + e.Looks + ")"
	}
	return msg + ": " + strings.Join(parts, "; ")
}

// looksLike returns the name of the torchvision ResNet of a state dict, with its width if that is
// not 64, or "". It compares the numbers of blocks in each stage.
func looksLike(got map[string]Tensor) string {
	stem, ok := got["conv1.weight"]
	if !ok || len(stem.Shape) != 4 {
		return ""
	}
	var blocks [4]int
	for stage := range blocks {
		for {
			if _, ok := got[fmt.Sprintf("layer%d.%d.conv1.weight", stage+1, blocks[stage])]; !ok {
				break
			}
			blocks[stage]++
		}
	}
	_, bottleneck := got["layer1.0.conv3.weight"]
	type kind struct {
		blocks     [4]int
		bottleneck bool
	}
	name, ok := map[kind]string{
		{[4]int{2, 2, 2, 2}, false}: "resnet18",
		{[4]int{3, 4, 6, 3}, false}: "resnet34",
		{[4]int{3, 4, 6, 3}, true}:  "resnet50",
		{[4]int{3, 4, 23, 3}, true}: "resnet101",
		{[4]int{3, 8, 36, 3}, true}: "resnet152",
	}[kind{blocks, bottleneck}]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s of width %d", name, stem.Shape[0])
}
