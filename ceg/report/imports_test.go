package report

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A table is made on machines without an engine: the package links neither the
// method nor what computes.
func TestLinksNoEngine(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	out := fatal.Get(exec.Command(goTool, "list", "-deps", ".").Output())(t)
	deps := strings.Fields(string(out))
	if len(deps) < 20 {
		t.Fatalf("go list gives %d packages", len(deps))
	}
	for _, p := range deps {
		if p == "github.com/ledg-go/ledg/ceg/run" || strings.HasPrefix(p, "github.com/gomlx/") {
			t.Errorf("package report imports %s", p)
		}
	}
}
