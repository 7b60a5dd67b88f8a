package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxRank bounds the axes of one tensor; no framework goes beyond 64.
const maxRank = 64

// metadataKey is the one key of the header which is no tensor.
const metadataKey = "__metadata__"

// parseJSON reads the header's JSON token by token: json.Unmarshal into a map
// would let the last of two equal names win and lose their order.
func parseJSON(raw []byte) (*Header, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not valid UTF-8")
	}
	body := bytes.TrimRight(raw, " ")
	if len(body) == 0 || body[0] != '{' {
		return nil, errors.New("does not start with an opening brace")
	}
	p := parser{json.NewDecoder(bytes.NewReader(body))}
	p.UseNumber()
	h := &Header{index: map[string]int{}}
	seen := map[string]bool{}
	err := p.object(func(key string) error {
		if seen[key] {
			return fmt.Errorf("%q occurs twice", key)
		}
		seen[key] = true
		if key == metadataKey {
			h.Metadata = map[string]string{}
			return p.object(func(k string) error {
				v, err := p.str()
				if err != nil {
					return fmt.Errorf("%s: %q: %w", metadataKey, k, err)
				}
				if _, twice := h.Metadata[k]; twice {
					return fmt.Errorf("%s: %q occurs twice", metadataKey, k)
				}
				h.Metadata[k] = v
				return nil
			})
		}
		t, err := p.tensor(key)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", key, err)
		}
		h.index[key] = len(h.Tensors)
		h.Tensors = append(h.Tensors, t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if at := p.InputOffset(); at != int64(len(body)) {
		return nil, fmt.Errorf("%d bytes after the JSON object", int64(len(body))-at)
	}
	return h, nil
}

type parser struct{ *json.Decoder }

func (p parser) tensor(name string) (Tensor, error) {
	t := Tensor{Name: name}
	var got [3]bool
	once := func(i int, field string) error {
		if got[i] {
			return fmt.Errorf("%s occurs twice", field)
		}
		got[i] = true
		return nil
	}
	err := p.object(func(field string) error {
		switch field {
		case "dtype":
			if err := once(0, field); err != nil {
				return err
			}
			s, err := p.str()
			if err != nil {
				return fmt.Errorf("dtype: %w", err)
			}
			t.DType = DType(s)
			if t.DType.Size() == 0 {
				return fmt.Errorf("unknown dtype %q: save it as float32, by x.float() in PyTorch", s)
			}
			return nil
		case "shape":
			if err := once(1, field); err != nil {
				return err
			}
			dims, err := p.ints(maxRank)
			if err != nil {
				return fmt.Errorf("shape: %w", err)
			}
			t.Shape = make([]int, len(dims))
			for i, d := range dims {
				t.Shape[i] = int(d)
				if d < 0 || int64(t.Shape[i]) != d {
					return fmt.Errorf("shape: dimension %d out of range", d)
				}
			}
			return nil
		case "data_offsets":
			if err := once(2, field); err != nil {
				return err
			}
			o, err := p.ints(2)
			if err != nil {
				return fmt.Errorf("data_offsets: %w", err)
			}
			if len(o) != 2 {
				return fmt.Errorf("data_offsets: got %d numbers, want 2", len(o))
			}
			t.begin, t.end = o[0], o[1]
			return nil
		}
		return fmt.Errorf("unknown field %q", field)
	})
	if err != nil {
		return t, err
	}
	for i, field := range []string{"dtype", "shape", "data_offsets"} {
		if !got[i] {
			return t, fmt.Errorf("%s is missing", field)
		}
	}
	return t, nil
}

// token returns the next token and says "truncated" where JSON just stops.
func (p parser) token() (json.Token, error) {
	tok, err := p.Token()
	var syntax *json.SyntaxError // Go 1.27's message
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input" {
		return nil, errors.New("JSON ends too early")
	}
	return tok, err
}

func (p parser) expect(d json.Delim) error {
	tok, err := p.token()
	if err != nil {
		return err
	}
	if tok != d {
		return fmt.Errorf("got %v at byte %d, want %v", tok, p.InputOffset(), d)
	}
	return nil
}

// object reads an object and calls each with every key; each reads the value.
func (p parser) object(each func(key string) error) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	for p.More() {
		tok, err := p.token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return fmt.Errorf("got %v at byte %d, want a key", tok, p.InputOffset())
		}
		if err := each(key); err != nil {
			return err
		}
	}
	return p.expect('}')
}

func (p parser) str() (string, error) {
	tok, err := p.token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", fmt.Errorf("got %v, want a string", tok)
	}
	return s, nil
}

func (p parser) ints(most int) ([]int64, error) {
	if err := p.expect('['); err != nil {
		return nil, err
	}
	var out []int64
	for p.More() {
		if len(out) == most {
			return nil, fmt.Errorf("more than %d numbers", most)
		}
		tok, err := p.token()
		if err != nil {
			return nil, err
		}
		num, ok := tok.(json.Number)
		if !ok {
			return nil, fmt.Errorf("got %v, want an integer", tok)
		}
		v, err := strconv.ParseInt(num.String(), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("got %s, want an integer below 2^63", num)
		}
		out = append(out, v)
	}
	return out, p.expect(']')
}
