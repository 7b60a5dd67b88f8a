package source

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// pkg is a package's declarations.
type pkg struct {
	files *token.FileSet
	trees map[string]*ast.File
	// named are the declarations of each name at package level, methods the method declarations of
	// each type.
	named, methods map[string][]ast.Node
	imports        map[string][]string // by the name that code uses
	// isVar are the specifications of variables at package level, pointerMethods the names of methods
	// with a pointer receiver.
	isVar          map[*ast.ValueSpec]bool
	pointerMethods map[string]bool
}

// parse reads the package of a file: the other files of its folder, without tests, unless the
// file is one.
func parse(file string) (*pkg, error) {
	p := &pkg{files: token.NewFileSet(), trees: map[string]*ast.File{}, named: map[string][]ast.Node{}, methods: map[string][]ast.Node{}, imports: map[string][]string{}, isVar: map[*ast.ValueSpec]bool{}, pointerMethods: map[string]bool{}}
	const mode = 0 // without comments
	first, err := parser.ParseFile(p.files, file, nil, mode)
	if err != nil {
		return nil, fmt.Errorf("the code's digest: %w", err)
	}
	p.add(file, first)
	others, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if other == file || strings.HasSuffix(other, "_test.go") && !strings.HasSuffix(file, "_test.go") {
			continue
		}
		// A file that does not parse is of another package or of no build.
		if tree, err := parser.ParseFile(p.files, other, nil, mode); err == nil && tree.Name.Name == first.Name.Name {
			p.add(other, tree)
		}
	}
	return p, nil
}

// add enters a file's declarations.
func (p *pkg) add(file string, tree *ast.File) {
	p.trees[file] = tree
	for _, i := range tree.Imports {
		where, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(where)
		if i.Name != nil {
			name = i.Name.Name
		}
		p.imports[name] = append(p.imports[name], where)
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				of := receiver(d)
				p.methods[of] = append(p.methods[of], d)
				if _, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok {
					p.pointerMethods[d.Name.Name] = true
				}
			} else if name := d.Name.Name; name != "init" && !p.isMain(d) {
				p.named[name] = append(p.named[name], d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				for _, name := range names(s) {
					p.named[name] = append(p.named[name], whole(d, s))
				}
				if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
					p.isVar[v] = true
				}
			}
		}
	}
}

// isMain reports whether a function is a program's main.
func (p *pkg) isMain(d *ast.FuncDecl) bool { return d.Recv == nil && d.Name.Name == "main" }

// receiver names the type of a method.
func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			ast.Inspect(f.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && name == "" {
					name = id.Name
				}
				return true
			})
			return false
		}
		return true
	})
	return name
}

// names lists what a specification declares.
func names(s ast.Spec) (list []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		list = append(list, s.Name.Name)
	case *ast.ValueSpec:
		for _, n := range s.Names {
			list = append(list, n.Name)
		}
	}
	return list
}

// whole is a specification, or its declaration where constants depend on those before them.
func whole(d *ast.GenDecl, s ast.Spec) ast.Node {
	if d.Tok == token.CONST && len(d.Specs) > 1 {
		for _, s := range d.Specs {
			if v := s.(*ast.ValueSpec); len(v.Values) == 0 || mentions(v, "iota") {
				return d
			}
		}
	}
	return s
}

// mentions reports whether a node has an identifier.
func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// closure returns the declaration at a line, and all of the package that it depends on, as
// texts without comments and formatting. In a program's main only the statement counts, unless
// it depends on others of main.
func (p *pkg) closure(file string, line int, inMain bool) (texts []string) {
	queue := p.at(file, line, inMain)
	seen := map[ast.Node]bool{}
	imported := map[string]bool{}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		texts = append(texts, p.text(n))
		if t, ok := n.(*ast.TypeSpec); ok {
			queue = append(queue, p.methods[t.Name.Name]...)
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				queue = append(queue, p.named[id.Name]...)
				for _, where := range p.imports[id.Name] {
					imported[where] = true
				}
			}
			return true
		})
	}
	for where := range imported {
		texts = append(texts, "import "+where)
	}
	return texts
}

// at returns the nodes that a line is in.
func (p *pkg) at(file string, line int, inMain bool) []ast.Node {
	has := func(n ast.Node) bool {
		return p.files.Position(n.Pos()).Line <= line && line <= p.files.Position(n.End()).Line
	}
	for _, d := range p.trees[file].Decls {
		if !has(d) {
			continue
		}
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if has(s) {
					return []ast.Node{whole(d, s)}
				}
			}
		case *ast.FuncDecl:
			if inMain && p.isMain(d) {
				return statement(d, has)
			}
		}
		return []ast.Node{d}
	}
	return []ast.Node{p.trees[file]} // the line is from elsewhere
}

// statement returns the statements of a function that contain a line; the whole body where these
// use what other statements define.
func statement(d *ast.FuncDecl, has func(ast.Node) bool) (list []ast.Node) {
	var others []ast.Node
	for _, s := range d.Body.List {
		if has(s) {
			list = append(list, s)
		} else {
			others = append(others, s)
		}
	}
	for _, o := range others {
		for _, name := range defined(o) {
			for _, s := range list {
				if mentions(s, name) {
					return []ast.Node{d.Body}
				}
			}
		}
	}
	return list
}

// defined lists the names that a statement defines or changes.
func defined(n ast.Node) (list []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				ast.Inspect(e, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && id.Name != "_" {
						list = append(list, id.Name)
					}
					return true
				})
			}
		case *ast.ValueSpec:
			list = append(list, names(n)...)
		}
		return true
	})
	return list
}

// text is a node as its tokens.
func (p *pkg) text(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, p.files, n); err != nil {
		return err.Error() // of no tree that was parsed
	}
	var s scanner.Scanner
	f := token.NewFileSet()
	s.Init(f.AddFile("", f.Base(), b.Len()), b.Bytes(), nil, 0)
	var tokens []string
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return strings.Join(tokens, " ")
		case tok == token.SEMICOLON && lit == "\n":
		case lit != "":
			tokens = append(tokens, lit)
		default:
			tokens = append(tokens, tok.String())
		}
	}
}
