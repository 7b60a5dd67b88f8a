package source

import (
	"fmt"
	"go/ast"
	"go/token"
)

// variable is the declaration of a variable, by its node and its name; of a variable of another file
// the node is nil.
type variable struct {
	decl any
	name string
}

// variableOf is the variable that an identifier stands for; ok is false for anything else.
func (p *pkg) variableOf(id *ast.Ident) (v variable, ok bool) {
	// The code need not type-check; an identifier that is taken for a variable is refused at worst.
	o := id.Obj
	if o == nil { // of another file, of an import or built in
		for _, d := range p.named[id.Name] {
			s, isValue := d.(*ast.ValueSpec)
			ok = ok || isValue && p.isVar[s]
		}
		return variable{nil, id.Name}, ok
	}
	if o.Kind != ast.Var {
		return v, false
	}
	if s, isValue := o.Decl.(*ast.ValueSpec); isValue && p.isVar[s] {
		return variable{nil, id.Name}, true
	}
	return variable{o.Decl, id.Name}, true
}

// changed returns an error if a variable that the function at a line reads is changed by other code
// than the function and what it calls: its value is not part of the function's source.
func (p *pkg) changed(file string, line int) error {
	root := p.function(file, line)
	if root == nil {
		return nil
	}
	own, read := map[ast.Node]bool{}, map[variable]bool{}
	for queue := []ast.Node{root}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if own[n] {
			continue
		}
		own[n] = true
		if t, ok := n.(*ast.TypeSpec); ok {
			queue = append(queue, p.methods[t.Name.Name]...)
		}
		inspect(n, func(id *ast.Ident) {
			v, ok := p.variableOf(id)
			if declared, isNode := v.decl.(ast.Node); ok && !(isNode && root.Pos() <= declared.Pos() && declared.Pos() < root.End()) {
				read[v] = true
			}
			if !ok || v.decl == nil { // not a local variable
				queue = append(queue, p.named[id.Name]...)
			}
		})
	}
	var err error
	for _, tree := range p.trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			if _, isFunction := n.(*ast.FuncDecl); err != nil || n == ast.Node(root) || isFunction && own[n] {
				return false
			}
			for _, id := range p.written(n) {
				v, ok := p.variableOf(id)
				if ok && read[v] && (v.decl == nil || n.Pos() > root.End()) {
					err = fmt.Errorf("the variable %s, which its code reads, is changed outside of it (%s), and the value is not part of a run's identity: "+
						"make it a constant, or an argument of a function that returns the code, registered under a name for each value", id.Name, p.text(n))
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
			from, to := p.files.Position(n.Pos()).Line, p.files.Position(n.End()).Line
			if from <= line && line <= to && (found == nil || from > p.files.Position(found.Pos()).Line) {
				found = n
			}
		}
		return true
	})
	return found
}

// inspect calls f for the identifiers of a node that are no names of fields or methods.
func inspect(n ast.Node, f func(*ast.Ident)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			inspect(n.X, f)
			return false
		case *ast.Ident:
			f(n)
		}
		return true
	})
}

// written lists the variables that a statement or expression assigns, counts, deletes from, takes the
// address of, or calls a method of that may change it.
func (p *pkg) written(n ast.Node) (list []*ast.Ident) {
	add := func(targets ...ast.Expr) {
		for _, e := range targets {
			if id := base(e); id != nil {
				list = append(list, id)
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			if id, ok := e.(*ast.Ident); n.Tok != token.DEFINE || ok && id.Obj != nil && id.Obj.Decl != any(n) {
				add(e)
			}
		}
	case *ast.IncDecStmt:
		add(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			add(n.Key, n.Value)
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			add(n.X)
		}
	case *ast.CallExpr:
		switch f := n.Fun.(type) {
		case *ast.Ident:
			if (f.Name == "delete" || f.Name == "clear" || f.Name == "copy") && len(n.Args) > 0 {
				add(n.Args[0])
			}
		case *ast.SelectorExpr:
			if p.pointerMethods[f.Sel.Name] {
				add(f.X)
			}
		}
	}
	return list
}

// base is the variable of which an expression is a part, nil for none.
func base(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return base(e.X)
	case *ast.IndexExpr:
		return base(e.X)
	case *ast.SliceExpr:
		return base(e.X)
	case *ast.StarExpr:
		return base(e.X)
	case *ast.ParenExpr:
		return base(e.X)
	}
	return nil
}
