package source

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package's declarations.
type pkg struct {
	files *token.FileSet
	trees map[string]*ast.File
	scope *types.Scope
	// info has the package's own names. Imported packages are not read, so much has no type.
	info types.Info
	// named are the declarations of each name at package level, methods the method declarations of
	// each type.
	named, methods map[string][]ast.Node
}

// parse reads the package of a file: the other files of its folder, without tests, unless the
// file is one.
func parse(file string) (*pkg, error) {
	p := &pkg{files: token.NewFileSet(), trees: map[string]*ast.File{}, named: map[string][]ast.Node{}, methods: map[string][]ast.Node{},
		info: types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	const mode = parser.SkipObjectResolution // and without comments
	first, err := parser.ParseFile(p.files, file, nil, mode)
	if err != nil {
		return nil, fmt.Errorf("the code's digest: %w", err)
	}
	p.trees[file] = first
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
			p.trees[other] = tree
		}
	}
	for _, tree := range p.trees {
		for _, d := range tree.Decls {
			p.add(d)
		}
	}
	// An importer that finds nothing suffices for the names, and all errors are passed over.
	conf := types.Config{Error: func(error) {}, FakeImportC: true}
	checked, _ := conf.Check(first.Name.Name, p.files, slices.Collect(maps.Values(p.trees)), &p.info)
	p.scope = checked.Scope()
	return p, nil
}

// add enters a declaration; nothing depends on init and on a program's main.
func (p *pkg) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			of := leftmost(d.Recv.List[0].Type).Name
			p.methods[of] = append(p.methods[of], d)
		} else if name := d.Name.Name; name != "init" && name != "main" {
			p.named[name] = append(p.named[name], d)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				p.named[s.Name.Name] = append(p.named[s.Name.Name], s)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					p.named[name.Name] = append(p.named[name.Name], p.whole(d, s))
				}
			}
		}
	}
}

// whole is a specification, or its declaration where constants depend on those before them.
func (p *pkg) whole(d *ast.GenDecl, s ast.Spec) ast.Node {
	depends := func(s ast.Spec) bool {
		return len(s.(*ast.ValueSpec).Values) == 0 || strings.Contains(p.text(s), "iota")
	}
	if d.Tok == token.CONST && slices.ContainsFunc(d.Specs, depends) {
		return d
	}
	return s
}

// leftmost is the first identifier of a node: of an expression that can be assigned, the variable of
// which it is a part. It is nil for none.
func leftmost(n ast.Node) (first *ast.Ident) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && first == nil {
			first = id
		}
		return first == nil
	})
	return first
}

// uses calls f for what the identifiers of a node stand for, as far as it is known.
func (p *pkg) uses(n ast.Node, f func(types.Object)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.info.Uses[id] != nil {
			f(p.info.Uses[id])
		}
		return true
	})
}

// reached lists nodes and all declarations of the package that they depend on.
func (p *pkg) reached(nodes ...ast.Node) (list []ast.Node) {
	for ; len(nodes) > 0; nodes = nodes[1:] {
		n := nodes[0]
		if slices.Contains(list, n) {
			continue
		}
		list = append(list, n)
		if t, ok := n.(*ast.TypeSpec); ok {
			nodes = append(nodes, p.methods[t.Name.Name]...)
		}
		p.uses(n, func(o types.Object) {
			if o.Parent() == p.scope {
				nodes = append(nodes, p.named[o.Name()]...)
			}
		})
	}
	return list
}

// closure returns the declaration at a line, and all of the package that it depends on, as
// texts without comments and formatting. In a program's main only the statement counts, unless
// it depends on others of main.
func (p *pkg) closure(file string, line int, inMain bool) (texts []string) {
	for _, n := range p.reached(p.at(file, line, inMain)...) {
		texts = append(texts, p.text(n))
		p.uses(n, func(o types.Object) {
			if i, ok := o.(*types.PkgName); ok {
				texts = append(texts, "import "+i.Imported().Path())
			}
		})
	}
	return texts
}

func (p *pkg) at(file string, line int, inMain bool) []ast.Node {
	for _, d := range p.trees[file].Decls {
		if !p.has(d, line) {
			continue
		}
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if p.has(s, line) {
					return []ast.Node{p.whole(d, s)}
				}
			}
		case *ast.FuncDecl:
			if inMain && d.Recv == nil && d.Name.Name == "main" {
				return p.statement(d, line)
			}
		}
		return []ast.Node{d}
	}
	return []ast.Node{p.trees[file]} // the line is from elsewhere
}

func (p *pkg) has(n ast.Node, line int) bool {
	return p.files.Position(n.Pos()).Line <= line && line <= p.files.Position(n.End()).Line
}

// statement returns the statements of a function that contain a line; the whole body where these
// use variables of other statements.
func (p *pkg) statement(d *ast.FuncDecl, line int) (list []ast.Node) {
	for _, s := range d.Body.List {
		if !p.has(s, line) {
			continue
		}
		list = append(list, s)
		others := false
		p.uses(s, func(o types.Object) {
			v, ok := o.(*types.Var)
			others = others || ok && within(d.Body, v.Pos()) && !within(s, v.Pos())
		})
		if others {
			return []ast.Node{d.Body}
		}
	}
	return list
}

func within(n ast.Node, at token.Pos) bool { return n.Pos() <= at && at < n.End() }

// text is a node in one format, whatever its lines: in this set of files no node has a position.
func (p *pkg) text(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return err.Error() // of no tree that was parsed
	}
	return b.String()
}

// changed returns an error if a variable that the function at a line reads is changed by other code
// than the function and what it calls: its value is not part of the function's source.
func (p *pkg) changed(file string, line int) (err error) {
	root := p.function(file, line)
	if root == nil {
		return nil
	}
	own, read := p.reached(root), map[types.Object]bool{}
	for _, n := range own {
		p.uses(n, func(o types.Object) { read[o] = !within(root, o.Pos()) })
	}
	for _, tree := range p.trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			if err != nil || n == root || slices.Contains(own, n) {
				return false
			}
			for _, e := range p.written(n) {
				id := leftmost(e)
				// A variable of a function around the registered one has its value from before.
				if v, ok := p.info.Uses[id].(*types.Var); ok && read[v] && (v.Parent() == p.scope || n.Pos() > root.End()) {
					err = fmt.Errorf("the variable %s, which its code reads, is changed outside of it (%s), and the value is not part of a run's identity: "+
						"make it a constant, or an argument of a function that returns the code, registered under a name for each value", id.Name, strings.Join(strings.Fields(p.text(n)), " "))
				}
			}
			return true
		})
	}
	return err
}

// function returns the function at a line: one that begins there, else the innermost around it.
func (p *pkg) function(file string, line int) (found ast.Node) {
	ast.Inspect(p.trees[file], func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if p.has(n, line) && (found == nil || p.files.Position(n.Pos()).Line > p.files.Position(found.Pos()).Line) {
				found = n
			}
		}
		return true
	})
	return found
}

// written lists the expressions that a node assigns, counts, deletes from, takes the address of, or
// calls a method of that may change it.
func (p *pkg) written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		return slices.DeleteFunc([]ast.Expr{n.Key, n.Value}, func(e ast.Expr) bool { return e == nil })
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		switch f := n.Fun.(type) {
		case *ast.Ident:
			if f.Name == "delete" || f.Name == "clear" || f.Name == "copy" {
				return n.Args[:min(len(n.Args), 1)]
			}
		case *ast.SelectorExpr:
			if s := p.info.Selections[f]; s != nil && s.Kind() == types.MethodVal {
				if _, ok := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer); ok {
					return []ast.Expr{f.X}
				}
			}
		}
	}
	return nil
}
