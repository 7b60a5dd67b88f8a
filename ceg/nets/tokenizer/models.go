package tokenizer

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// pieces reads the vocabulary and the model that cuts words.
func (t *Tokenizer) pieces(c *config) error {
	u := unknowns{id: -1, bytes: c.Model.ByteFallback, fuse: c.Model.FuseUnknown}
	switch c.Model.Type {
	case "BPE":
		if err := json.Unmarshal(c.Model.Vocab, &t.vocab); err != nil || len(t.vocab) == 0 || c.Model.Prefix != "" {
			return fmt.Errorf("its vocabulary is no map from pieces to numbers, or pieces have a prefix")
		}
		if id, ok := t.vocab[c.Model.Unknown]; ok {
			u.id = id
		}
		return t.bytePair(c, u)
	case "Unigram":
		var list [][2]any
		if err := json.Unmarshal(c.Model.Vocab, &list); err != nil || len(list) == 0 {
			return fmt.Errorf("its vocabulary is no list of pieces with scores")
		}
		t.vocab = map[string]int{}
		m := &unigram{}
		for i, x := range list {
			piece, ok := x[0].(string)
			score, number := x[1].(float64)
			if !ok || !number {
				return fmt.Errorf("piece %d of its vocabulary is %v, want a text and a number", i, x)
			}
			t.vocab[piece] = i
			m.scores, m.longest, m.least = append(m.scores, score), max(m.longest, len(piece)), min(m.least, score)
		}
		if c.Model.UnknownID != nil {
			u.id = *c.Model.UnknownID
		}
		m.unknowns, m.vocab, t.model = u, t.vocab, m
		return nil
	}
	return fmt.Errorf("its model is %q, want BPE or Unigram", c.Model.Type)
}

// unknowns is what becomes of a text without a piece of its own.
type unknowns struct {
	vocab map[string]int
	id    int  // -1: it has no token
	fuse  bool // neighbours are one
	bytes bool // a token for each byte, where there are all of them
}

// add appends the tokens of a text without a piece. again is true if the last token was such a one.
func (u *unknowns) add(ids []int, text string, again bool) (_ []int, unknown bool) {
	var list []int
	for i := 0; i < len(text) && u.bytes; i++ {
		if id, ok := u.vocab[fmt.Sprintf("<0x%02X>", text[i])]; ok {
			list = append(list, id)
		}
	}
	if u.bytes && len(list) == len(text) {
		return append(ids, list...), false
	}
	if u.id >= 0 && !(again && u.fuse) {
		ids = append(ids, u.id)
	}
	return ids, true
}

// bytePair is byte-pair encoding: of neighbours, those whose merge was learned first are merged.
type bytePair struct {
	unknowns
	merges map[[2]int]merge
	suffix string
}

type merge struct{ rank, to int }

func (t *Tokenizer) bytePair(c *config, u unknowns) error {
	m := &bytePair{u, map[[2]int]merge{}, c.Model.Suffix}
	m.vocab = t.vocab
	var pairs [][2]string
	var lines []string
	if json.Unmarshal(c.Model.Merges, &lines) == nil {
		for _, line := range lines {
			a, b, _ := strings.Cut(line, " ")
			pairs = append(pairs, [2]string{a, b})
		}
	} else if err := json.Unmarshal(c.Model.Merges, &pairs); err != nil {
		return fmt.Errorf("its merges are neither texts nor pairs of texts")
	}
	for rank, p := range pairs {
		a, okA := t.vocab[p[0]]
		b, okB := t.vocab[p[1]]
		to, ok := t.vocab[p[0]+p[1]]
		if !ok || !okA || !okB {
			return fmt.Errorf("its merge of %q and %q is not in its vocabulary", p[0], p[1])
		}
		if _, twice := m.merges[[2]int{a, b}]; !twice {
			m.merges[[2]int{a, b}] = merge{rank, to}
		}
	}
	t.model = m
	return nil
}

func (m *bytePair) encode(ids []int, word string) []int {
	var list []int
	unknown := false
	for i, r := range word {
		piece := string(r)
		if i+len(piece) == len(word) {
			piece += m.suffix
		}
		if id, ok := m.vocab[piece]; ok {
			list, unknown = append(list, id), false
		} else {
			list, unknown = m.add(list, piece, unknown)
		}
	}
	for {
		best, at := merge{rank: math.MaxInt}, 0
		for i := range max(len(list)-1, 0) {
			if x, ok := m.merges[[2]int(list[i:i+2])]; ok && x.rank < best.rank {
				best, at = x, i
			}
		}
		if best.rank == math.MaxInt {
			return append(ids, list...)
		}
		list[at] = best.to
		list = append(list[:at+1], list[at+2:]...)
	}
}

// unigram is sentencepiece's unigram model: the pieces with the largest sum of scores.
type unigram struct {
	unknowns
	scores  []float64
	longest int // bytes of a piece
	least   float64
}

// unknownPenalty is how much worse than the worst piece an unknown rune is.
const unknownPenalty = 10

func (m *unigram) encode(ids []int, word string) []int {
	type end struct {
		score    float64
		from, id int // id is -1 for an unknown rune
	}
	ends := make([]end, len(word)+1) // the best pieces that end at a byte
	for i := range ends {
		ends[i].from = -1
	}
	for at, r := range word {
		base, one, single := ends[at].score, at+utf8.RuneLen(r), false
		reach := func(to int, score float64, id int) {
			if e := &ends[to]; e.from < 0 || base+score > e.score {
				*e = end{base + score, at, id}
			}
		}
		for to := at + 1; to <= min(at+m.longest, len(word)); to++ {
			if id, ok := m.vocab[word[at:to]]; ok && id >= 0 && id < len(m.scores) && (to == len(word) || utf8.RuneStart(word[to])) {
				reach(to, m.scores[id], id)
				single = single || to == one
			}
		}
		if !single {
			reach(one, m.least-unknownPenalty, -1)
		}
	}
	var path []int // ends of pieces, the last first
	for at := len(word); at > 0; at = ends[at].from {
		path = append(path, at)
	}
	for i := len(path) - 1; i >= 0; i-- {
		e := ends[path[i]]
		if e.id >= 0 {
			ids = append(ids, e.id)
			continue
		}
		for i > 0 && ends[path[i-1]].id < 0 { // neighbours are one unknown piece
			i--
		}
		ids, _ = m.add(ids, word[e.from:path[i]], false)
	}
	return ids
}
