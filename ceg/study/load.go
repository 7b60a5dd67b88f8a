package study

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
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
	if err := limit(tokens); err != nil {
		return s, nil, fmt.Errorf("%s:%w", name, err)
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
	var wrong error
	whole := yaml.CustomUnmarshaler(func(seed *uint64, text []byte) (err error) { // the decoder's own cuts fractions off
		if *seed, err = strconv.ParseUint(string(bytes.TrimSpace(text)), 0, 64); err != nil {
			err = fmt.Errorf("%s:%d: seeds: %s, want whole numbers", name, lineOfSeed(tokens, string(text)), text)
			wrong = cmp.Or(wrong, err)
		}
		return err
	})
	if err := yaml.UnmarshalWithOptions(data, &s, yaml.Strict(), whole); err != nil {
		return s, nil, cmp.Or(wrong, yamlError(name, err))
	}
	return s, file.Docs[0].Body, nil
}

// The parser has no bounds of its own. maxNesting is how many values of a study may be in each other
// on a line and the brackets around it. maxKeys is how many keys and items of lists it may have: the
// time of the parser grows with their square.
const maxNesting, maxKeys = 64, 5000

// limit returns an error, which begins with the line, for values that are nested too deep or too
// many. Those that are nested by their indentation are few, as the indentation has to be there.
func limit(tokens token.Tokens) error {
	brackets, line, entries, keys := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.MappingKeyType:
			entries++
		case token.SequenceEntryType:
			entries, keys = entries+1, keys+1
		case token.MappingValueType:
			keys++
		}
		if brackets+entries > maxNesting {
			return fmt.Errorf("%d: more than %d values in each other", line, maxNesting)
		}
		if keys > maxKeys {
			return fmt.Errorf("%d: more than %d keys or items of lists, a study has fewer", line, maxKeys)
		}
	}
	return nil
}

// lineOfSeed returns the line of the first such value after a key of seeds, or else of the last key.
func lineOfSeed(tokens token.Tokens, text string) (line int) {
	for _, t := range tokens {
		if t.Value == "seeds" {
			line = t.Position.Line
		}
		if line > 0 && t.Value == strings.Trim(text, "\"'") {
			return t.Position.Line
		}
	}
	return line
}

// yamlError puts file and line before the parser's message.
func yamlError(name string, err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		return fmt.Errorf("%s:%d: %s", name, at.GetToken().Position.Line, at.GetMessage())
	}
	return fmt.Errorf("%s: %s", name, strings.TrimSpace(err.Error()))
}

// lineOf returns the line of the deepest node that the path leads to, or of its key.
func lineOf(root ast.Node, path []any) int {
	for ; len(path) > 0; path = path[:len(path)-1] {
		b := (&yaml.PathBuilder{}).Root()
		for _, step := range path {
			switch step := step.(type) {
			case string:
				b = b.Child(step)
			case int:
				b = b.Index(uint(step))
			}
		}
		n, err := b.Build().FilterNode(root)
		if err != nil || n == nil {
			continue
		}
		if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 { // whose own token is a colon or a brace
			n = m.Values[0].Key
		}
		return n.GetToken().Position.Line
	}
	return root.GetToken().Position.Line
}
