package tokenizer

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// normalizer adds the function of a normalizer.
func (t *Tokenizer) normalizer(p *part) error {
	var f func(string) string
	switch p.Type {
	case "NFC":
		f = norm.NFC.String
	case "NFKC":
		f = norm.NFKC.String
	case "Lowercase": // each rune by itself, as in Rust, a dotted I of two runes
		f = func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "İ", "i̇")) }
	case "Strip":
		f = func(s string) string {
			if p.Left {
				s = strings.TrimLeftFunc(s, unicode.IsSpace)
			}
			if p.Right {
				s = strings.TrimRightFunc(s, unicode.IsSpace)
			}
			return s
		}
	case "Replace":
		re, err := p.expression()
		if err != nil {
			return err
		}
		f = func(s string) string { return re.ReplaceAllLiteralString(s, p.Content) }
	case "Precompiled":
		m, err := newCharMap(p.Map)
		if err != nil {
			return err
		}
		f = m.apply
	default:
		return fmt.Errorf("its normalizer %q is not supported", p.Type)
	}
	t.normalize = append(t.normalize, f)
	return nil
}

// preTokenizer adds the function of a pre-tokenizer, which splits words further.
func (t *Tokenizer) preTokenizer(p *part) error {
	var f func(first bool, word string) []string
	switch p.Type {
	case "Split":
		re, err := p.expression()
		if err != nil {
			return err
		}
		switch {
		case p.Behavior == "Removed" && p.Invert:
			f = func(_ bool, s string) []string { return re.FindAllString(s, -1) }
		case p.Behavior == "MergedWithPrevious" && !p.Invert:
			f = func(_ bool, s string) []string {
				return cutAt(s, re.FindAllStringIndex(s, -1), 1)
			}
		default:
			return fmt.Errorf("its pre-tokenizer splits %q, which is not supported", p.Behavior)
		}
	case "ByteLevel": // GPT-2's expression changes nothing after CLIP's
		if !t.CLIP || p.PrefixSpace == nil || *p.PrefixSpace {
			return fmt.Errorf("its pre-tokenizer %q is supported for CLIP alone", p.Type)
		}
		f = func(_ bool, s string) []string {
			var b strings.Builder
			for i := range len(s) {
				b.WriteRune(byteRunes[s[i]])
			}
			return []string{b.String()}
		}
	case "Metaspace":
		re := regexp.MustCompile(regexp.QuoteMeta(p.Replacement))
		always := p.Scheme == "always" || p.Scheme == "" && (p.PrefixSpace == nil || *p.PrefixSpace)
		f = func(first bool, s string) []string {
			s = strings.ReplaceAll(s, " ", p.Replacement)
			if (always || p.Scheme == "first" && first) && !strings.HasPrefix(s, p.Replacement) {
				s = p.Replacement + s
			}
			return cutAt(s, re.FindAllStringIndex(s, -1), 0)
		}
	default:
		return fmt.Errorf("its pre-tokenizer %q is not supported", p.Type)
	}
	t.split = append(t.split, f)
	return nil
}

// cutAt cuts a text where matches begin (end 0) or end (end 1).
func cutAt(s string, matches [][]int, end int) (words []string) {
	from := 0
	for _, m := range append(matches, []int{len(s), len(s)}) {
		if m[end] > from {
			words, from = append(words, s[from:m[end]]), m[end]
		}
	}
	return words
}

// byteRunes are GPT-2's printable runes for bytes.
var byteRunes = func() (list [256]rune) {
	next := rune(256)
	for b := range rune(256) {
		if list[b] = b; b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			list[b] = next
			next++
		}
	}
	return list
}()

// space are the white space of Unicode, as Oniguruma's \s; Go's is ASCII's.
const space = `\s\x0b\x{85}\p{Z}`

// expression is the pattern of a part, in Go's syntax.
func (p *part) expression() (*regexp.Regexp, error) {
	if p.Pattern.Regex == "" {
		return regexp.Compile(regexp.QuoteMeta(p.Pattern.String))
	}
	var b strings.Builder
	inside, text := false, p.Pattern.Regex
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			switch {
			case text[i] == 's' && inside:
				b.WriteString(space)
			case text[i] == 's':
				b.WriteString("[" + space + "]")
			case strings.IndexByte("pPnrt", text[i]) < 0 && unicode.IsLetter(rune(text[i])):
				return nil, fmt.Errorf("its expression %q is not supported: it has %q", text, text[i-1:i+1])
			default:
				b.WriteString(text[i-1 : i+1])
			}
			continue
		case c == '[' && inside: // literal
			b.WriteByte('\\')
		case c == '[' || c == ']':
			inside = c == '['
		}
		b.WriteByte(text[i])
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("its expression %q is not supported: %w", text, err)
	}
	return re, nil
}

// charMap is sentencepiece's map of characters: a double-array trie, by Yata's darts-clone, from bytes
// to places in texts that end in a zero.
type charMap struct {
	trie  []uint32
	texts string
}

func newCharMap(b []byte) (*charMap, error) {
	n := uint32(0)
	if len(b) >= 4 {
		n = binary.LittleEndian.Uint32(b)
		b = b[4:]
	}
	if n%4 != 0 || n == 0 || int64(n) > int64(len(b)) {
		return nil, fmt.Errorf("its map of characters has a trie of %d bytes among %d", n, len(b))
	}
	m := &charMap{trie: make([]uint32, n/4), texts: string(b[n:]) + "\x00"}
	for i := range m.trie {
		m.trie[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return m, nil
}

// lookup returns what the shortest prefix of s in the map becomes, which stands for all of s.
func (m *charMap) lookup(s string) (to string, ok bool) {
	at := uint32(0)
	unit := m.trie[0]
	for i := 0; ; i++ {
		at ^= unit >> 10 << (unit & (1 << 9) >> 6)
		if int(at) >= len(m.trie) {
			return "", false
		}
		if i > 0 && unit>>8&1 == 1 { // it ends here
			begin := int(m.trie[at] & (1<<31 - 1))
			if begin >= len(m.texts) {
				return "", false
			}
			return m.texts[begin : begin+strings.IndexByte(m.texts[begin:], 0)], true
		}
		if i == len(s) || s[i] == 0 {
			return "", false
		}
		if at ^= uint32(s[i]); int(at) >= len(m.trie) {
			return "", false
		}
		if unit = m.trie[at]; unit&(1<<31|0xff) != uint32(s[i]) {
			return "", false
		}
	}
}

// apply maps short grapheme clusters, and the runes of others.
func (m *charMap) apply(s string) string {
	var b strings.Builder
	for g := uniseg.NewGraphemes(s); g.Next(); {
		cluster := g.Str()
		if to, ok := m.lookup(cluster); ok && len(cluster) < 6 {
			b.WriteString(to)
			continue
		}
		for _, r := range cluster {
			to, ok := m.lookup(string(r))
			if !ok {
				to = string(r)
			}
			b.WriteString(to)
		}
	}
	return b.String()
}
