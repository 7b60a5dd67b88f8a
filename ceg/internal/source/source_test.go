package source

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

const cells = `package main

import "math"

// weight weighs.
const weight = 0.5

const (
	first = iota
	second
)

var scale = 2 * weight

type mine struct{ power float64 }

func (m mine) score(x float64) float64 { return math.Pow(x, m.power) * scale }

func other() float64 { return 7 }

var Mine = register("mine", func(x float64) float64 { return mine{power: 3}.score(x) + second })

func register(name string, f func(float64) float64) string { return name }

func main() {
	apart := 4.0
	println(apart)
	register("here", func(x float64) float64 { return x + weight })
	factor := 3.0
	register("local", func(x float64) float64 { return x * factor })
	println(other())
}
`

// digests returns the texts of each registration of a program.
func digests(t *testing.T, text string) map[string][]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
	p := fatal.Get(parse(file))(t)
	found := map[string][]string{}
	for i, line := range strings.Split(text, "\n") {
		for _, name := range []string{"mine", "here", "local"} {
			if strings.Contains(line, `register("`+name) {
				list := p.closure(file, i+1, name != "mine")
				slices.Sort(list)
				found[name] = list
			}
		}
	}
	return found
}

// A change counts for the registrations that depend on what has changed, and for no others.
func TestWhatCounts(t *testing.T) {
	before := digests(t, cells)
	for _, c := range []struct {
		was, is string
		changed []string
	}{
		{"// weight weighs.", "// weight does nothing.", nil},
		{"println(apart)\n", "println( apart ) // now\n\n", nil},
		{"return 7", "return 8", []string{"local"}}, // which counts all of main
		{"weight = 0.5", "weight = 0.25", []string{"mine", "here", "local"}},
		{"scale = 2", "scale = 3", []string{"mine"}},
		{"m.power)", "m.power+1)", []string{"mine"}},
		{"power: 3", "power: 4", []string{"mine"}},
		{"first = iota", "first = 1 + iota", []string{"mine"}},
		{`import "math"`, `import math "example.com/other/math"`, []string{"mine"}},
		{"x + weight", "weight + x", []string{"here", "local"}},
		{"factor := 3.0", "factor := 3.5", []string{"local"}},
		{"apart := 4.0", "apart := 4.5", []string{"local"}},
	} {
		if !strings.Contains(cells, c.was) {
			t.Fatalf("the program has no %q", c.was)
		}
		after := digests(t, strings.Replace(cells, c.was, c.is, 1))
		for _, name := range []string{"mine", "here", "local"} {
			if changed := !reflect.DeepEqual(before[name], after[name]); changed != slices.Contains(c.changed, name) {
				t.Errorf("%q becomes %q: the code of %s has changed: %v", c.was, c.is, name, changed)
			}
		}
	}
}

// withMethod is a value with a function and a method.
type withMethod struct{ functions []func() int }

func (withMethod) Query() int { return 1 }

func TestFunctions(t *testing.T) {
	var names []string
	for _, p := range functions(reflect.ValueOf(withMethod{[]func() int{func() int { return 2 }}}), 0) {
		names = append(names, p.function[strings.LastIndex(p.function, "/")+1:])
	}
	if want := []string{"source.withMethod.Query", "source.TestFunctions.func1"}; !slices.Equal(names, want) {
		t.Errorf("functions %q, want %q", names, want)
	}
}

// In a notebook the file of the cells is found, though its path was trimmed.
func TestReadable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gonb_ab12")
	t.Setenv(notebookFolder, dir)
	if got := readable("gonb_ab12/main.go"); got != "" {
		t.Errorf("the file is %q, which is not there", got)
	}
	fatal.If(t, os.Mkdir(dir, 0o700))
	file := filepath.Join(dir, "main.go")
	fatal.If(t, os.WriteFile(file, []byte(cells), 0o600))
	if got := readable("gonb_ab12/main.go"); got != file {
		t.Errorf("the file is %q, want %q", got, file)
	}
	if got := readable("example.com/mine/main.go"); got != "" {
		t.Errorf("another module's file is %q", got)
	}
	if readable(filepath.Join(t.TempDir(), "nothing.go")) != "" {
		t.Error("a file that is not there can be read")
	}
}

// A variable that a function reads may be changed by the function and what it calls, and by no other
// code.
func TestChanged(t *testing.T) {
	const program = `package main

var power, seen = 1.0, map[string]float64{}
var table = []float64{1, 2}
var setup struct{ power float64 }
type mine struct{ power float64 }
func (m *mine) set(x float64) { m.power = x }
var own = mine{1}

func helper(x float64) float64 { seen["x"] = x; return x * power }
func main() {
	other, local := 1.0, 2.0
	local++
	register("mine", func(x float64) float64 { local, x := local, x; local *= 2; return helper(x) + table[0] + setup.power + own.power + local })
	CELL
	println(other)
}
`
	for cell, want := range map[string]string{
		"power = 2":                                "power",
		"for _, power = range table {}":            "power",
		"for i := range 3 { power, other = 1, 2 }": "power",
		"power++":                               "power",
		"*(&power) = 3":                         "power",
		"table[1] = 3":                          "table",
		"table = append(table, 3)":              "table",
		"clear(table)":                          "table",
		"setup.power = 3":                       "setup",
		"own.set(3)":                            "own",
		"func() { local = 3 }()":                "local",
		"local, fresh := 3.0, 4; _ = fresh":     "local",
		"other = 2":                             "",
		"power := 2.0; power++":                 "",
		"table := []float64{1}; table[0] = 3":   "",
		"println(power, table[0], setup.power)": "",
		"m := mine{power: 2}; m.set(3)":         "",
		"{ local := 2.0; local++ }":             "",
	} {
		file := filepath.Join(t.TempDir(), "main.go")
		text := strings.Replace(program, "CELL", cell, 1)
		fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
		p, err := parse(file)
		if err != nil {
			t.Fatal(err)
		}
		err = p.changed(file, strings.Count(text[:strings.Index(text, "register(")], "\n")+1)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, "the variable "+want+",") || strings.Contains(got, "\n") {
			t.Errorf("%s: error %v, want one of %q", cell, err, want)
		}
	}
}
