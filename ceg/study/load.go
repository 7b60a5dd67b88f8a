package study

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/ledg-go/ledg/datasets/regular"
)

// maxStudy is the most bytes that a study file may have.
const maxStudy = 1 << 20

// Load reads a study file and checks that it can be planned. Unknown fields, settings and names,
// repeated keys, and values of the wrong type are errors that start with file and line.
func Load(path string) (Study, error) {
	data, err := regular.Read(path, maxStudy)
	if err != nil {
		return Study{}, err
	}
	return Parse(path, data)
}

// Parse is [Load] on data read from the file called name.
func Parse(name string, data []byte) (Study, error) {
	s, root, err := decode(name, data)
	if err != nil {
		return Study{}, err
	}
	if _, err := s.Plan(); err != nil {
		var at *fieldError
		if errors.As(err, &at) {
			return Study{}, fmt.Errorf("%s:%d: %w", name, lineOf(root, at.path), err)
		}
		return Study{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// decode decodes a study, which need make no sense, with the root of its YAML.
func decode(name string, data []byte) (s Study, root ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the decoder's, of tags and anchors in odd places
			err = fmt.Errorf("%s: it cannot be decoded: %v", name, p)
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if line := tooDeep(tokens); line > 0 {
		return s, nil, fmt.Errorf("%s:%d: more than %d values in each other", name, line, maxNesting)
	}
	if line := tooMany(tokens); line > 0 {
		return s, nil, fmt.Errorf("%s:%d: more than %d keys or items of lists, a study has fewer", name, line, maxKeys)
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return s, nil, yamlError(name, err)
	}
	switch {
	case len(file.Docs) > 1:
		return s, nil, fmt.Errorf("%s: %d YAML documents, want one", name, len(file.Docs))
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		return s, nil, fmt.Errorf("%s: there is no study in it", name)
	}
	if err := yaml.UnmarshalWithOptions(data, &s, yaml.Strict()); err != nil {
		return s, nil, yamlError(name, err)
	}
	fractions := &fractionalSeeds{}
	if ast.Walk(fractions, file.Docs[0].Body); fractions.first != nil {
		at := fractions.first.GetToken()
		return s, nil, fmt.Errorf("%s:%d: seeds: %s, want whole numbers", name, at.Position.Line, at.Value)
	}
	return s, file.Docs[0].Body, nil
}

// fractionalSeeds finds the first seed with a decimal point, which the decoder would cut off.
type fractionalSeeds struct{ first ast.Node }

// Visit implements ast.Visitor.
func (f *fractionalSeeds) Visit(n ast.Node) ast.Visitor {
	if v, ok := n.(*ast.MappingValueNode); ok && v.Key.GetToken().Value == "seeds" {
		for _, seed := range ast.Filter(ast.FloatType, v.Value) {
			if f.first == nil {
				f.first = seed
			}
		}
	}
	return f
}

// maxNesting is how many values of a study may be in each other on a line and the brackets
// around it: the parser has no bound of its own.
const maxNesting = 64

// tooDeep returns the line where values are nested too deep, 0 if none are. Those that
// are nested by their indentation are few, as the indentation has to be there.
func tooDeep(tokens token.Tokens) int {
	brackets, line, entries := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		}
		if brackets+entries > maxNesting {
			return line
		}
	}
	return 0
}

// maxKeys is how many keys and items of lists a study may have: the time of the parser grows with their square.
const maxKeys = 5000

// tooMany returns the line of the first key or item too many, 0 if there is none.
func tooMany(tokens token.Tokens) int {
	keys := 0
	for _, t := range tokens {
		if t.Type == token.MappingValueType || t.Type == token.SequenceEntryType {
			keys++
		}
		if keys > maxKeys {
			return t.Position.Line
		}
	}
	return 0
}

// yamlError puts file and line before the parser's message.
func yamlError(name string, err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		return fmt.Errorf("%s:%d: %s", name, at.GetToken().Position.Line, at.GetMessage())
	}
	return fmt.Errorf("%s: %s", name, strings.TrimSpace(err.Error()))
}

// lineOf returns the line of the deepest node that the path leads to.
func lineOf(node ast.Node, path []any) int {
	line := node.GetToken().Position.Line
	for _, step := range path {
		var next ast.Node
		switch key := step.(type) {
		case string:
			next, line = entry(node, key, line)
		case int:
			if list, ok := resolve(node).(*ast.SequenceNode); ok && key >= 0 && key < len(list.Values) {
				next = list.Values[key]
				line = next.GetToken().Position.Line
			}
		}
		if next == nil {
			return line
		}
		node = next
	}
	return line
}

// entry returns the value under key of a mapping with the key's line, or nil and
// the line as it was.
func entry(node ast.Node, key string, line int) (ast.Node, int) {
	var pairs []*ast.MappingValueNode
	switch n := resolve(node).(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	}
	for _, p := range pairs {
		if t := p.Key.GetToken(); t.Value == key {
			return p.Value, t.Position.Line
		}
	}
	return nil, line
}

// resolve goes through an anchor to what it names.
func resolve(node ast.Node) ast.Node {
	if a, ok := node.(*ast.AnchorNode); ok {
		return a.Value
	}
	return node
}
