package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// Limits on one pickle. A tensor takes some 30 operations and 200 bytes, so that ResNet-152 with
// the state of Adam has about 70,000 and 0.5 MiB. An operation takes some hundred bytes of memory.
const (
	maxPickle = 8 << 20
	maxOps    = 1 << 18
)

// The values of a pickle, besides nil, bool, int, float64, string, storage and *view.
type (
	// global is a class or function by its name. It stands for itself: none is ever run.
	global struct{ module, name string }
	tuple  []any
	list   struct{ items []any }
	dict   struct{ entries []entry }
	entry  struct{ key, value any }
	long   string // an integer of more than eight bytes
	mark   struct{}
)

// storageTypes are the element types of torch's typed storage classes.
var storageTypes = map[global]safetensors.DType{
	{"torch", "DoubleStorage"}: safetensors.Float64, {"torch", "FloatStorage"}: safetensors.Float32,
	{"torch", "HalfStorage"}: safetensors.Float16, {"torch", "BFloat16Storage"}: safetensors.BFloat16,
	{"torch", "LongStorage"}: safetensors.Int64, {"torch", "IntStorage"}: safetensors.Int32,
	{"torch", "ShortStorage"}: safetensors.Int16, {"torch", "CharStorage"}: safetensors.Int8,
	{"torch", "ByteStorage"}: safetensors.Uint8, {"torch", "BoolStorage"}: safetensors.Bool,
}

// functions are what stands for the functions and classes that a checkpoint may call. _rebuild_tensor
// and the class Parameter are what torch before 0.4 wrote.
var functions = map[global]func(args tuple) (any, error){
	{"collections", "OrderedDict"}:         newDict,
	{"torch._utils", "_rebuild_tensor_v2"}: rebuildTensor,
	{"torch._utils", "_rebuild_tensor"}:    rebuildTensor,
	{"torch._utils", "_rebuild_parameter"}: rebuildParameter,
	{"torch.nn.parameter", "Parameter"}:    rebuildParameter,
	{"torch", "Size"}:                      newSize,
}

// RefusedGlobalError is the error of a pickle that names a class or function which no state dict
// needs.
type RefusedGlobalError struct {
	Module, Name string
}

// Error names the global and suggests what to do.
func (e *RefusedGlobalError) Error() string {
	return fmt.Sprintf("refused: the pickle asks for %q, which a state dict does not need and which could run code; "+
		"nothing was run (save the tensors alone: torch.save(model.state_dict(), ...))", e.Module+"."+e.Name)
}

var (
	errTruncatedPickle = errors.New("the pickle ends too early: truncated file")
	errDamagedPickle   = errors.New("damaged pickle")
)

// unpickler interprets the operations of a pickle. The first error stays in err, after which the
// other methods return zero values.
type unpickler struct {
	b     []byte
	at    int
	stack []any
	memo  map[int]any
	load  func(id tuple) (any, error)
	err   error
}

// unpickle interprets the pickle at the start of b, of any binary protocol, and returns the value
// and the pickle's length. Only operations and globals of state dicts are known. load is called for
// every persistent ID, which is how torch refers to storages.
func unpickle(b []byte, load func(id tuple) (any, error)) (value any, length int, err error) {
	u := &unpickler{b: b, memo: map[int]any{}, load: load}
	for range maxOps {
		start, op := u.at, byte(u.number(1))
		if op == '.' {
			value = u.pop()
			return value, u.at, u.err
		}
		u.do(op)
		if u.err == nil && u.at > maxPickle {
			u.err = fmt.Errorf("the pickle is larger than %d bytes", maxPickle)
		}
		if u.err != nil {
			return nil, 0, fmt.Errorf("%w (pickle operation 0x%02x at byte %d)", u.err, op, start)
		}
	}
	return nil, 0, fmt.Errorf("the pickle has more than %d operations", maxOps)
}

// do interprets an operation.
func (u *unpickler) do(op byte) {
	var n uint64 // a number, or the bytes of a text
	switch op {
	case '\x80', 'K', 'q', 'h', '\x8a', '\x8c', 'U', 'C':
		n = u.number(1)
	case 'M':
		n = u.number(2)
	case 'J', 'r', 'j', '\x8b', 'X', 'T', 'B':
		n = u.number(4)
	case '\x95', '\x8d', '\x8e':
		n = u.number(8)
	}
	switch op {
	case '\x80', '\x95': // PROTO, FRAME
	case '(':
		u.push(mark{})
	case '0', 'b': // POP, BUILD, whose state is metadata of dicts and parameters
		u.pop()
	case '1':
		u.popMark()
	case '2':
		u.push(u.top())
	case 'N':
		u.push(nil)
	case '\x88', '\x89':
		u.push(op == '\x88')
	case 'K', 'M':
		u.push(int(n))
	case 'J':
		u.push(int(int32(n)))
	case 'G':
		u.push(math.Float64frombits(bits.ReverseBytes64(u.number(8))))
	case '\x8a', '\x8b':
		u.push(integer(u.take(n)))
	case '\x8c', 'U', 'C', 'X', 'T', 'B', '\x8d', '\x8e': // texts and bytes
		u.push(string(u.take(n)))
	case '}':
		u.push(&dict{})
	case ']', '\x8f': // a list, or a set
		u.push(&list{})
	case ')':
		u.push(tuple{})
	case 't', '\x91': // or a frozen set
		u.push(tuple(u.popMark()))
	case '\x85', '\x86', '\x87':
		u.push(tuple(u.popLast(int(op - '\x84'))))
	case 's':
		u.extend(u.popLast(2))
	case 'a':
		u.extend(u.popLast(1))
	case 'u', 'e', '\x90':
		u.extend(u.popMark())
	case 'q', 'r':
		u.memo[int(n)] = u.top()
	case '\x94':
		u.memo[len(u.memo)] = u.top()
	case 'h', 'j':
		v, ok := u.memo[int(n)]
		u.push(v)
		u.check(ok, errDamagedPickle)
	case 'c':
		u.global(u.line(), u.line())
	case '\x93': // STACK_GLOBAL
		names := u.popLast(2)
		u.global(names[0], names[1])
	case 'R', '\x81': // REDUCE, NEWOBJ
		call := u.popLast(2)
		g, _ := call[0].(global)
		if args, ok := call[1].(tuple); u.check(ok && functions[g] != nil, errDamagedPickle) {
			v, err := functions[g](args)
			u.push(v)
			u.check(err == nil, err)
		}
	case 'Q': // BINPERSID
		if id, ok := u.pop().(tuple); u.check(ok && u.load != nil, errNoStorage) {
			v, err := u.load(id)
			u.push(v)
			u.check(err == nil, err)
		}
	default:
		u.check(false, errors.New("an operation that a state dict does not need"))
	}
}

// check notes the first error, and reports whether there is none yet.
func (u *unpickler) check(ok bool, err error) bool {
	if !ok && u.err == nil {
		u.err = err
	}
	return u.err == nil
}

// take returns the next n bytes.
func (u *unpickler) take(n uint64) []byte {
	if !u.check(n <= uint64(len(u.b)-u.at), errTruncatedPickle) {
		return nil
	}
	u.at += int(n)
	return u.b[u.at-int(n) : u.at]
}

// number reads an unsigned number, little-endian.
func (u *unpickler) number(width uint64) uint64 {
	var wide [8]byte
	copy(wide[:], u.take(width))
	return binary.LittleEndian.Uint64(wide[:])
}

// line reads a text up to a newline.
func (u *unpickler) line() any {
	text, _, ok := bytes.Cut(u.b[u.at:], []byte{'\n'})
	if !u.check(ok, errTruncatedPickle) {
		return nil
	}
	u.at += len(text) + 1
	return string(text)
}

// integer is a number in two's complement, little-endian.
func integer(b []byte) any {
	if len(b) > 8 {
		return long(b)
	}
	var wide [8]byte
	shift := 64 - 8*copy(wide[:], b)
	return int(binary.LittleEndian.Uint64(wide[:])<<shift) >> shift
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

// top is the last value of the stack.
func (u *unpickler) top() any {
	if !u.check(len(u.stack) > 0, errDamagedPickle) {
		return nil
	}
	return u.stack[len(u.stack)-1]
}

func (u *unpickler) pop() any { return u.popLast(1)[0] }

// popLast takes the last n values off the stack.
func (u *unpickler) popLast(n int) []any {
	if !u.check(len(u.stack) >= n, errDamagedPickle) {
		return make([]any, n)
	}
	items := slices.Clone(u.stack[len(u.stack)-n:])
	u.stack = u.stack[:len(u.stack)-n]
	return items
}

// popMark takes the values after the last mark, and the mark.
func (u *unpickler) popMark() []any {
	i := len(u.stack) - 1
	for ; i >= 0 && u.stack[i] != any(mark{}); i-- {
	}
	return u.popLast(len(u.stack) - i)[1:]
}

// extend adds items to the list, or keys and values to the dict, at the end of the stack.
func (u *unpickler) extend(items []any) {
	switch v := u.top().(type) {
	case *list:
		v.items = append(v.items, items...)
	case *dict:
		if u.check(len(items)%2 == 0, errDamagedPickle) {
			for pair := range slices.Chunk(items, 2) {
				v.entries = append(v.entries, entry{pair[0], pair[1]})
			}
		}
	default:
		u.check(false, errDamagedPickle)
	}
}

// global pushes an allowed class or function.
func (u *unpickler) global(module, name any) {
	m, ok := module.(string)
	n, ok2 := name.(string)
	u.check(ok && ok2, errors.New("refused: the pickle asks for a global whose name is not spelt out"))
	const most = 200
	g := global{m, n}
	u.check(functions[g] != nil || storageTypes[g] != "", &RefusedGlobalError{Module: m[:min(len(m), most)], Name: n[:min(len(n), most)]})
	u.push(g)
}
