package imported

import "slices"

// get returns an attribute, nil if it is not there.
func (n *node) get(name string) *attr {
	i := slices.IndexFunc(n.attrs, func(a attr) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	return &n.attrs[i]
}

func (n *node) drop(name string) *attr {
	a := n.get(name)
	if a != nil {
		had := *a
		n.attrs = slices.DeleteFunc(n.attrs, func(a attr) bool { return a.name == name })
		return &had
	}
	return nil
}

func (n *node) float(name string, or float32) float32 {
	if a := n.get(name); a != nil {
		return a.f
	}
	return or
}

func (n *node) int(name string, or int64) int64 {
	if a := n.get(name); a != nil {
		return a.i
	}
	return or
}

func (n *node) text(name, or string) string {
	if a := n.get(name); a != nil {
		return a.s
	}
	return or
}

// become makes n another operation.
func (n *node) become(op string, in ...string) { n.op, n.in, n.attrs, n.domain = op, in, nil, "" }
