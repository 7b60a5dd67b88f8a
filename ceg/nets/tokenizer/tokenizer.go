// Package tokenizer turns texts into tokens as a Hugging Face tokenizer.json says, for the text
// towers of CLIP (byte-pair encoding) and SigLIP (unigram pieces, or byte pairs with bytes for the rest).
//
// A part of such a file that is not supported is an error, as other tokens silently cost most of the
// accuracy. go-huggingface v0.4.10 is not used: it takes the longest unigram pieces, not the most
// probable ones, and passes over normalizers and expressions that it does not know.
package tokenizer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tokenizer is an opened tokenizer.json. Its methods are safe for concurrent use.
type Tokenizer struct {
	normalize []func(string) string
	split     []func(first bool, word string) []string
	model     interface {
		encode(ids []int, word string) []int
	}
	vocab         map[string]int
	added         []string // longest first
	before, after []int    // special tokens around a text
	pad           int      // -1 where the file does not say

	// CLIP is true for CLIP's pieces, with a mark at the end of a word.
	CLIP bool
}

// config is a tokenizer.json.
type config struct {
	AddedTokens []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
	Padding *struct {
		ID int `json:"pad_id"`
	} `json:"padding"`
	Normalizer    part `json:"normalizer"`
	PreTokenizer  part `json:"pre_tokenizer"`
	PostProcessor part `json:"post_processor"`
	Model         struct {
		Type         string          `json:"type"`
		Vocab        json.RawMessage `json:"vocab"`
		Merges       json.RawMessage `json:"merges"`
		Unknown      string          `json:"unk_token"`
		UnknownID    *int            `json:"unk_id"`
		FuseUnknown  bool            `json:"fuse_unk"`
		ByteFallback bool            `json:"byte_fallback"`
		Suffix       string          `json:"end_of_word_suffix"`
		Prefix       string          `json:"continuing_subword_prefix"`
	} `json:"model"`
}

// part is a normalizer, pre-tokenizer or post-processor, or a sequence of them.
type part struct {
	Type          string `json:"type"`
	Normalizers   []part `json:"normalizers"`
	PreTokenizers []part `json:"pretokenizers"`
	Processors    []part `json:"processors"`
	Pattern       struct{ String, Regex string }
	Content       string                           `json:"content"`
	Left          bool                             `json:"strip_left"`
	Right         bool                             `json:"strip_right"`
	Map           []byte                           `json:"precompiled_charsmap"`
	Behavior      string                           `json:"behavior"`
	Invert        bool                             `json:"invert"`
	PrefixSpace   *bool                            `json:"add_prefix_space"`
	Replacement   string                           `json:"replacement"`
	Scheme        string                           `json:"prepend_scheme"`
	Single        []map[string]struct{ ID string } `json:"single"`
	SpecialTokens map[string]struct{ IDs []int }   `json:"special_tokens"`
	First         [2]any                           `json:"cls"`
	Last          [2]any                           `json:"sep"`
}

// each calls f for the parts of a sequence; a missing part has none.
func (p *part) each(f func(p *part) error) error {
	if p.Type == "" {
		return nil
	}
	if p.Type != "Sequence" {
		return f(p)
	}
	for _, q := range slices.Concat(p.Normalizers, p.PreTokenizers, p.Processors) {
		if err := q.each(f); err != nil {
			return err
		}
	}
	return nil
}

// Parse reads a tokenizer.json.
func Parse(b []byte) (*Tokenizer, error) {
	var c config
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("it is no tokenizer: %w", err)
	}
	t := &Tokenizer{pad: -1, CLIP: c.Model.Suffix == "</w>"}
	for _, x := range []struct {
		p *part
		f func(p *part) error
	}{{&c.Normalizer, t.normalizer}, {&c.PreTokenizer, t.preTokenizer}, {&c.PostProcessor, t.special}} {
		if err := x.p.each(x.f); err != nil {
			return nil, err
		}
	}
	if err := t.pieces(&c); err != nil {
		return nil, err
	}
	for _, a := range c.AddedTokens {
		if a.Content != "" {
			t.vocab[a.Content] = a.ID
			t.added = append(t.added, a.Content)
		}
	}
	slices.SortStableFunc(t.added, func(a, b string) int { return len(b) - len(a) })
	if c.Padding != nil {
		t.pad = c.Padding.ID
	}
	return t, nil
}

// special reads the special tokens around a text.
func (t *Tokenizer) special(p *part) error {
	switch p.Type {
	case "ByteLevel":
	case "RobertaProcessing":
		first, ok := p.First[1].(float64)
		last, ok2 := p.Last[1].(float64)
		if !ok || !ok2 {
			return fmt.Errorf("its special tokens are %v and %v, want texts with numbers", p.First, p.Last)
		}
		t.before, t.after = []int{int(first)}, []int{int(last)}
	case "TemplateProcessing":
		to := &t.before
		for _, s := range p.Single {
			if _, ok := s["Sequence"]; ok {
				to = &t.after
			}
			*to = append(*to, p.SpecialTokens[s["SpecialToken"].ID].IDs...)
		}
	default:
		return fmt.Errorf("its post-processor %q is not supported", p.Type)
	}
	return nil
}

// Encode returns the tokens of a text with the special ones around them: at most the given number,
// 0 for any. Of a longer text the first are kept, and the special ones; cut is then true.
func (t *Tokenizer) Encode(text string, most int) (ids []int, cut bool) {
	for text != "" {
		at, token := len(text), ""
		for _, a := range t.added { // the first, the longest of several
			if i := strings.Index(text[:min(at+len(a), len(text))], a); i >= 0 && i < at {
				at, token = i, a
			}
		}
		if ids = t.plain(ids, text[:at]); token != "" {
			ids = append(ids, t.vocab[token])
		}
		text = text[at+len(token):]
	}
	if room := max(most-len(t.before)-len(t.after), 0); most > 0 && len(ids) > room {
		ids, cut = ids[:room], true
	}
	return slices.Concat(t.before, ids, t.after), cut
}

// plain appends the tokens of a text without added tokens.
func (t *Tokenizer) plain(ids []int, text string) []int {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	for _, f := range t.normalize {
		text = strings.ToValidUTF8(f(text), string(utf8.RuneError)) // as a file can have other bytes
	}
	if text == "" {
		return ids
	}
	words := []string{text}
	for _, f := range t.split {
		var parts []string
		for i, w := range words {
			parts = append(parts, f(i == 0, w)...)
		}
		words = parts
	}
	for _, w := range words {
		ids = t.model.encode(ids, w)
	}
	return ids
}

// Size is one more than the largest token.
func (t *Tokenizer) Size() int { return 1 + slices.Max(slices.Collect(maps.Values(t.vocab))) }

// Pad returns the token that fills a text up: of the given name or, if it is not known, as the file
// says. ok is false if neither says.
func (t *Tokenizer) Pad(name string) (id int, ok bool) {
	if id, ok = t.vocab[name]; ok {
		return id, true
	}
	return t.pad, t.pad >= 0
}
