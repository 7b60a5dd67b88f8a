package active_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// own is a program that registers strategies and prints their codes.
const own = `package main

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/active"
)

const power = 2

func score(v active.View) []float64 {
	scores := v.Entropy()
	for i := range scores {
		scores[i] *= power
	}
	return scores
}

func must(s active.Scored, err error) active.Strategy {
	if err != nil {
		panic(err)
	}
	return s
}

func main() {
	fmt.Println(active.Register(must(active.NewScored("mine", score))))
	fmt.Println(active.Register(must(active.NewScored("mine", score))))
	fmt.Println(active.Register(must(active.NewScored("fixed", func(v active.View) []float64 { return v.Margin() }))))
	fmt.Println(active.RegisterEntry(active.Entry{Name: "coded", Code: "v2", New: func(o active.Options) active.Strategy {
		return must(active.NewScored("coded", score))
	}}))
	fmt.Println(active.Register(must(active.NewScored("entropy", score))))
	for _, name := range []string{"mine", "fixed", "coded", "entropy"} {
		s, err := active.ByName(name, active.Options{TieSeed: 3})
		fmt.Println(name, active.CodeOf(name), s.Name(), s.Needs(), err)
	}
	fmt.Println(active.Names()[len(active.Names())-3:])
}
`

// A program's strategies have its code, read from the source or else of the program.
func TestRegisterInPrograms(t *testing.T) {
	testall.Need(t, "the go command links three programs")
	run := func(text string, flags ...string) []string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "main.go")
		fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
		cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"run"}, flags...), file)...)
		cmd.Stderr = os.Stderr
		out := fatal.Get(cmd.Output())(t)
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	code := func(lines []string, name string) string {
		for _, l := range lines {
			if f := strings.Fields(l); f[0] == name {
				return f[1]
			}
		}
		t.Fatalf("nothing is said of %s in %q", name, lines)
		return ""
	}
	lines := run(own, "-trimpath=false")
	want := []string{"<nil>", `query strategy "mine": the name is taken by a registered query strategy: choose another`, "<nil>", "<nil>",
		`query strategy "entropy": the name is taken by a built-in query strategy: choose another`,
		fmt.Sprintf("mine %s mine ClassProbs <nil>", code(lines, "mine")), fmt.Sprintf("fixed %s fixed ClassProbs <nil>", code(lines, "fixed")),
		"coded v2 coded ClassProbs <nil>", "entropy  entropy ClassProbs <nil>", "[mine fixed coded]"}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	changed := run(strings.Replace(own, "power = 2", "power = 3", 1), "-trimpath=false")
	if len(code(lines, "mine")) != 16 || code(changed, "mine") == code(lines, "mine") {
		t.Errorf("mine has the code %s with another constant, and %s before", code(changed, "mine"), code(lines, "mine"))
	}
	if code(changed, "fixed") != code(lines, "fixed") {
		t.Errorf("fixed, which has not changed, has the code %s, and had %s", code(changed, "fixed"), code(lines, "fixed"))
	}
	trimmed := run(own, "-trimpath")
	if a, b := code(trimmed, "fixed"), code(trimmed, "mine"); a != b || a == code(lines, "fixed") {
		t.Errorf("without source, fixed has the code %s and mine %s, want the digest of the program", a, b)
	}
}
