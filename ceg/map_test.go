package ceg_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// docs returns the comments of a package's symbols: functions, types, Type.Method,
// Type.Field and constants.
func docs(t *testing.T, dir string) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	paths := fatal.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f := fatal.Get(parser.ParseFile(set, path, nil, parser.ParseComments))(t)
		files = append(files, f)
	}
	p := fatal.Get(doc.NewFromFiles(set, files, dir, doc.AllDecls|doc.PreserveAST))(t)
	of := map[string]string{}
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, s := range v.Decl.Specs {
				if s, ok := s.(*ast.ValueSpec); ok {
					for _, name := range s.Names {
						of[name.Name] = s.Doc.Text()
					}
				}
			}
		}
	}
	funcs := func(prefix string, list []*doc.Func) {
		for _, f := range list {
			of[prefix+f.Name] = f.Doc
		}
	}
	values(p.Consts)
	funcs("", p.Funcs)
	for _, typ := range p.Types {
		of[typ.Name] = typ.Doc
		values(typ.Consts)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
		for _, s := range typ.Decl.Specs {
			if s, ok := s.(*ast.TypeSpec).Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						of[typ.Name+"."+name.Name] = f.Doc.Text()
					}
				}
			}
		}
	}
	return of
}

// Every symbol that the map of the paper names exists, and its comment has the number.
func TestMapOfThePaper(t *testing.T) {
	text := fatal.Get(os.ReadFile("doc.go"))(t)
	row := regexp.MustCompile(`(?m)^//\t *(\d+)  \S.*  ?([a-z]+\.[\w.]+|Run)$`)
	packages := map[string]map[string]string{"": docs(t, ".")}
	last := 0
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		last++
		if m[1] != fmt.Sprint(last) {
			t.Errorf("after %d comes %s", last-1, m[1])
		}
		name, symbol, qualified := strings.Cut(m[2], ".")
		if !qualified {
			name, symbol = "", m[2]
		}
		if packages[name] == nil {
			dir := name
			switch name {
			case "datasets":
				dir = filepath.Join("..", name)
			case "cluster":
				dir = filepath.Join("active", name)
			}
			packages[name] = docs(t, dir)
		}
		switch comment, ok := packages[name][symbol]; {
		case !ok:
			t.Errorf("(%s): there is no %s", m[1], m[2])
		case !strings.Contains(comment, "The map of package ceg: ("+m[1]+")."):
			t.Errorf("(%s): the comment of %s does not have its number:\n%s", m[1], m[2], comment)
		}
	}
	if lines := len(strings.Split(string(text), "\n")); last < 30 || lines > 60 {
		t.Errorf("%d rows in %d lines", last, lines)
	}
}

// Every equation and table of the paper is in the map's second column. testdata/paper.txt has
// their numbers and labels, made by hand from the paper's source.
func TestMapHasTheEquations(t *testing.T) {
	text := fatal.Get(os.ReadFile("doc.go"))(t)
	list := fatal.Get(os.ReadFile(filepath.Join("testdata", "paper.txt")))(t)
	mapped := map[string]bool{}
	numbers := regexp.MustCompile(`(?m)^//\t *\d+  ([AT\d]\d*(?:(?:-|, )T?\d+)*)  `)
	for _, m := range numbers.FindAllStringSubmatch(string(text), -1) {
		for _, part := range strings.Split(m[1], ", ") {
			first, last, isRange := strings.Cut(part, "-")
			if !isRange {
				mapped[part] = true
				continue
			}
			letter := first[:len(first)-len(strings.TrimLeft(first, "AT"))]
			from, errFrom := strconv.Atoi(strings.TrimLeft(first, "AT"))
			to, errTo := strconv.Atoi(strings.TrimLeft(last, "AT"))
			if errFrom != nil || errTo != nil {
				t.Fatalf("the range %q: %v, %v", part, errFrom, errTo)
			}
			for n := from; n <= to; n++ {
				mapped[letter+fmt.Sprint(n)] = true
			}
		}
	}
	known := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		number, label, _ := strings.Cut(line, " ")
		known[number] = true
		if !mapped[number] {
			t.Errorf("the map has no row of %s, %s", number, label)
		}
	}
	if len(known) != 15+1+4 {
		t.Errorf("the paper has %d equations, algorithms and tables, want 20", len(known))
	}
	for number := range mapped {
		if !known[number] {
			t.Errorf("the map names %s, which the paper does not have", number)
		}
	}
}
