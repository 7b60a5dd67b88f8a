package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Spread returns backend specs for n concurrent jobs of one process, so that they share the
// accelerators of the backend that spec names: the k-th spec selects device k modulo the number of
// devices. With one device, or on a CPU, every spec is spec itself.
//
// If spec is "go" and there are at least as many jobs as cores, the specs have each job compute the
// operations of a graph one after the other. Results are identical. On two cores, two jobs then
// take 62.0 to 65.4 s for 60 runs on features (scripts/demo.sh), and 66.7 to 70.5 s otherwise (n = 4
// each). A run that is alone at the end of a study is slower.
func Spread(spec string, n int) ([]string, error) {
	return spread(spec, n, thisMachine())
}

func spread(spec string, n int, s search) ([]string, error) {
	specs := make([]string, n)
	for k := range specs {
		specs[k] = spec
	}
	r, err := resolve(spec, s.getenv)
	if err != nil {
		return nil, err
	}
	if r.kind == kindGo && len(r.goOptions) == 0 && n > 1 && n >= runtime.GOMAXPROCS(0) {
		return slices.Repeat([]string{"go:" + strings.Join(inOrder, ",")}, n), nil
	}
	if n < 2 || r.kind == kindGo || r.xla.device >= 0 {
		return specs, nil
	}
	b, err := r.openBackend(s)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	devices := b.Compute.NumDevices()
	if b.Kind != XLA || devices < 2 {
		return specs, nil
	}
	base := r.spec
	if r.kind == kindAuto {
		base = "xla:" + b.Settings.Plugin
	}
	if !strings.Contains(base, ":") {
		base += ":"
	}
	for k := range specs {
		specs[k] = fmt.Sprintf("%s,device=%d", base, k%devices)
	}
	return specs, nil
}
