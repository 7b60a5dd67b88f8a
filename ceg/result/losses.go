package result

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"fmt"
)

// Term is a named term of the training loss.
type Term struct {
	Name  string
	Value float64
}

// Losses are the terms of a training loss in the method's order, an object in JSON. CEG's are in
// Yuan et al. 2022: ce, ac, eg_intra and eg_inter with their sum eg; ss, which backbone and class
// head minimise; and dd, the domain head's. A term that was not computed is 0.
//
// Values are those that gradients are computed from. With the published code's sum over K source
// domains (config.SumOverDomains) they are K times the paper's, so curves of two presets are not
// comparable.
type Losses []Term

// Value returns a term by name, 0 if there is none.
func (l Losses) Value(name string) float64 {
	for _, t := range l {
		if t.Name == name {
			return t.Value
		}
	}
	return 0
}

// MarshalJSON writes an object with the terms in order.
func (l Losses) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, t := range l {
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(t.Value)
		if err != nil {
			return nil, fmt.Errorf("loss %s: %w", t.Name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object of numbers and keeps its order. A repeated name is an error.
func (l *Losses) UnmarshalJSON(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	if t, err := d.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return fmt.Errorf("loss: want an object, got %.40q", data)
	}
	list := Losses{}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return fmt.Errorf("loss: %w", err)
		}
		name := token.String()
		if token, err = d.ReadToken(); err != nil || token.Kind() != jsontext.KindNumber {
			return fmt.Errorf("loss %s: want a number", name)
		}
		v, err := token.Float()
		if err != nil {
			return fmt.Errorf("loss %s: %w", name, err)
		}
		list = append(list, Term{name, v})
	}
	*l = list
	return nil
}
