package dot

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Speed on arm64 was never measured: instead the instructions of the kernels' inner loops are
// counted, those with fused multiply-adds of whole vectors in them. They must have these, and
// neither a bounds check nor a call nor anything spilled to the stack.
// scripts/arm64.sh runs this with LEDG_TEST_ARM64=1, since it compiles for arm64.
func TestMachineCode(t *testing.T) {
	if os.Getenv("LEDG_TEST_ARM64") == "" {
		t.Skip("LEDG_TEST_ARM64=1 compiles the kernels for arm64 and reads their machine code")
	}
	for _, c := range []struct {
		args  []string
		loops map[string][2]int // of a function: fused multiply-adds in an inner loop, and instructions at most
	}{
		{[]string{"."}, map[string][2]int{"estimateNEON": {16, 48}, "partial": {16, 48}, "against": {8, 63}, "one": {4, 39}, "float64s": {4, 37}}},
		{[]string{"../../nets/inference/loops.go", "../../nets/inference/loops_arm64.go"}, map[string][2]int{"correlate": {8, 25}}},
	} {
		cmd := exec.Command("go", append([]string{"build", "-gcflags=-S"}, c.args...)...)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "GOEXPERIMENT=simd", "CGO_ENABLED=0", "GOFLAGS=")
		listing, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, listing)
		}
		functions := instructions(string(listing))
		for name, want := range c.loops {
			widest := -1
			for _, l := range innerLoops(functions[name]) {
				if l.fused > 0 {
					t.Logf("%s: %d fused multiply-adds of vectors in %d instructions", name, l.fused, l.instructions)
				}
				if l.fused > 0 && len(l.bad) > 0 {
					t.Errorf("%s has %q in an inner loop", name, l.bad)
				}
				if l.fused == want[0] && l.instructions <= want[1] {
					widest = l.fused
				}
			}
			if widest < 0 {
				t.Errorf("%s has no inner loop with %d fused multiply-adds in at most %d instructions", name, want[0], want[1])
			}
		}
	}
}

type instruction struct {
	at       int
	op, args string
}

var (
	function = regexp.MustCompile(`^\S*?([^.\s]+) STEXT`)
	line     = regexp.MustCompile(`^\t0x[0-9a-f]+ (\d+) \([^\t]*\)\t([A-Z0-9.]+)\t?(.*)$`)
	branch   = regexp.MustCompile(`^(B[A-Z]*|CBN?ZW?|TBN?Z|JMP)$`)
	vector   = regexp.MustCompile(`^VFMLA V\d+\.(S4|D2), V\d+\.(S4|D2), V\d+\.(S4|D2)$`)
)

// instructions reads a compiler's listing, function by function.
func instructions(listing string) map[string][]instruction {
	functions, name := map[string][]instruction{}, ""
	for l := range strings.Lines(listing) {
		l = strings.TrimRight(l, "\n")
		if m := function.FindStringSubmatch(l); m != nil {
			name = m[1]
		} else if m := line.FindStringSubmatch(l); m != nil {
			at, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "TEXT", "FUNCDATA", "PCDATA", "NOP": // are none
			default:
				functions[name] = append(functions[name], instruction{at, m[2], m[3]})
			}
		}
	}
	return functions
}

type loop struct {
	fused, instructions int
	bad                 []string
}

// innerLoops returns the loops that have no loop in them: what lies between a branch back and
// its target.
func innerLoops(code []instruction) []loop {
	target := func(i instruction) int {
		fields := strings.Split(i.args, ",")
		if at, err := strconv.Atoi(strings.TrimSpace(fields[len(fields)-1])); err == nil && branch.MatchString(i.op) {
			return at
		}
		return -1
	}
	panics := map[int]bool{} // where a bounds check goes
	for k := len(code) - 1; k >= 0; k-- {
		switch i := code[k]; {
		case i.op == "CALL":
			panics[i.at] = strings.Contains(i.args, "panic")
		case i.op != "RET" && target(i) < 0 && k+1 < len(code):
			panics[i.at] = panics[code[k+1].at]
		}
	}
	type span struct{ first, last int }
	var spans []span
	for _, i := range code {
		if to := target(i); to >= 0 && to <= i.at {
			spans = append(spans, span{to, i.at})
		}
	}
	var loops []loop
next:
	for _, s := range spans {
		for _, o := range spans {
			if o != s && o.first >= s.first && o.last <= s.last {
				continue next
			}
		}
		var l loop
		for _, i := range code {
			if i.at < s.first || i.at > s.last {
				continue
			}
			l.instructions++
			text := i.op + " " + i.args
			to := target(i)
			switch {
			case vector.MatchString(text):
				l.fused++
			case i.op == "CALL" || to >= 0 && panics[to] || strings.Contains(i.args, "(RSP)"):
				l.bad = append(l.bad, text)
			}
		}
		loops = append(loops, l)
	}
	return loops
}
