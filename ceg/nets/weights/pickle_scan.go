package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Limits on one pickle. A tensor takes some 30 operations and 200 bytes, so that
// ResNet-152 with the state of Adam has about 70,000 and 0.5 MiB; the interpreter
// needs at most a few hundred bytes of memory for each operation. A BUILD copies
// a dict of attributes, which may be the same large one each time, so the number
// of BUILDs times operations is limited too: real files have one for each state
// dict, or one for each Parameter before torch 0.4.
const (
	maxPickle   = 8 << 20
	maxOps      = 1 << 18
	maxCopies   = 1 << 26
	maxLine     = 4096 // of an operation whose argument ends with a newline
	maxIntBytes = 64   // of a long integer
)

// global is a class or function that a pickle names.
type global struct{ module, name string }

func (g global) String() string { return g.module + "." + g.name }

// argument is the encoding of an operation's argument.
type argument uint8

const (
	refused argument = iota // an operation that no state dict needs
	none
	fixed1
	fixed2
	fixed4
	fixed8
	line   // up to a newline
	lines2 // module and name, each up to a newline
	len1   // one byte with the length, then that many bytes
	len4
	len8
	int1 // as len1 and len4, a long integer
	int4
)

// operations lists the pickle operations (protocols 0 to 5) that may occur.
// Missing on purpose: PERSID, INST and OBJ (classes by name in protocol 0), the
// extension registry (EXT1, EXT2, EXT4), NEWOBJ_EX and out-of-band buffers.
var operations = func() (t [256]argument) {
	for arg, ops := range map[argument]string{
		none:   "(.012NQRabd}el]stu)" + "\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x93\x94",
		fixed1: "Khq\x80", fixed2: "M", fixed4: "Jjr", fixed8: "G\x95",
		line: "FILSVgp", lines2: "c",
		len1: "UC\x8c", len4: "TXB", len8: "\x8d\x8e", int1: "\x8a", int4: "\x8b",
	} {
		for i := range len(ops) {
			t[ops[i]] = arg
		}
	}
	return t
}()

var errTruncatedPickle = errors.New("the pickle ends too early: truncated file")

// scanPickle walks over the pickle at the start of b without building anything
// and returns its length. It refuses what the interpreter could not bear, such
// as lengths beyond the end of b, and every global which is not in
// [AllowedGlobals]; a global whose name is computed rather than spelt out is
// refused too. The interpreter must then be given exactly those bytes.
func scanPickle(b []byte) (length int, err error) {
	s := scanner{b: b, memo: map[int]string{}}
	builds := 0
	for ops := range maxOps {
		if s.at == len(b) {
			return 0, errTruncatedPickle
		}
		start := s.at
		op := b[s.at]
		s.at++
		arg, err := s.argument(op)
		if err != nil {
			return 0, fmt.Errorf("%w (pickle operation 0x%02x at byte %d)", err, op, start)
		}
		if s.at > maxPickle {
			return 0, fmt.Errorf("the pickle is larger than %d bytes", maxPickle)
		}
		switch op {
		case '.':
			return s.at, nil
		case 'b':
			if builds++; builds*ops > maxCopies {
				return 0, fmt.Errorf("the pickle has %d BUILD operations among its first %d, too many", builds, ops)
			}
		}
		if err := s.names(op, arg); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("the pickle has more than %d operations", maxOps)
}

type scanner struct {
	b  []byte
	at int

	// The operands of STACK_GLOBAL: the last strings pushed, nearest last, for as long as nothing
	// but strings and memo operations has come between.
	recent []string
	memo   map[int]string // "" for anything but a string
}

// argument returns the bytes of the operation's argument and steps over them.
func (s *scanner) argument(op byte) ([]byte, error) {
	kind := operations[op]
	switch kind {
	case refused:
		return nil, errors.New("an operation that a state dict does not need")
	case none:
		return nil, nil
	case fixed1:
		return s.take(1)
	case fixed2:
		return s.take(2)
	case fixed4:
		return s.take(4)
	case fixed8:
		arg, err := s.take(8)
		if err == nil && op == '\x95' && binary.LittleEndian.Uint64(arg) > uint64(len(s.b)-s.at) {
			return nil, errTruncatedPickle
		}
		return arg, err
	case line:
		return s.line()
	case lines2:
		module, err := s.line()
		if err != nil {
			return nil, err
		}
		name, err := s.line()
		if err != nil {
			return nil, err
		}
		return nil, checkGlobal(global{string(module), string(name)})
	}
	width := map[argument]int{len1: 1, int1: 1, len4: 4, int4: 4, len8: 8}[kind]
	raw, err := s.take(width)
	if err != nil {
		return nil, err
	}
	var wide [8]byte
	copy(wide[:], raw)
	n := binary.LittleEndian.Uint64(wide[:])
	if (kind == int1 || kind == int4) && (n == 0 || n > maxIntBytes) {
		return nil, fmt.Errorf("a long integer of %d bytes", n)
	}
	if n > uint64(len(s.b)-s.at) {
		return nil, errTruncatedPickle
	}
	return s.take(int(n))
}

func (s *scanner) take(n int) ([]byte, error) {
	if n > len(s.b)-s.at {
		return nil, errTruncatedPickle
	}
	s.at += n
	return s.b[s.at-n : s.at], nil
}

func (s *scanner) line() ([]byte, error) {
	rest := s.b[s.at:]
	i := bytes.IndexByte(rest[:min(len(rest), maxLine)], '\n')
	if i < 0 {
		if len(rest) > maxLine {
			return nil, fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		return nil, errTruncatedPickle
	}
	s.at += i + 1
	return rest[:i], nil
}

// names follows the strings that STACK_GLOBAL may take its names from.
func (s *scanner) names(op byte, arg []byte) error {
	little := func() int {
		var wide [8]byte
		copy(wide[:], arg)
		return int(binary.LittleEndian.Uint64(wide[:]))
	}
	switch op {
	case 'X', '\x8c', '\x8d': // BINUNICODE, SHORT_BINUNICODE, BINUNICODE8
		s.recent = append(s.recent, string(arg))
	case 'q', 'r': // BINPUT, LONG_BINPUT
		s.memo[little()] = s.top()
	case '\x94': // MEMOIZE
		s.memo[len(s.memo)] = s.top()
	case 'p': // PUT in decimal: protocol 0 has no STACK_GLOBAL to follow
		s.recent = nil
		return s.textPut(arg)
	case 'h', 'j': // BINGET, LONG_BINGET
		if v := s.memo[little()]; v != "" {
			s.recent = append(s.recent, v)
		} else {
			s.recent = nil
		}
	case '\x93': // STACK_GLOBAL
		n := len(s.recent)
		if n < 2 {
			return errors.New("refused: the pickle asks for a global whose name is not spelt out")
		}
		g := global{s.recent[n-2], s.recent[n-1]}
		s.recent = nil
		return checkGlobal(g)
	case '\x80', '\x95': // PROTO and FRAME leave the stack alone
	default:
		s.recent = nil
	}
	return nil
}

func (s *scanner) top() string {
	if len(s.recent) == 0 {
		return ""
	}
	return s.recent[len(s.recent)-1]
}

// textPut stores under a decimal key, so that MEMOIZE continues counting like the interpreter.
func (s *scanner) textPut(arg []byte) error {
	i, err := strconv.Atoi(string(arg))
	if err != nil {
		return fmt.Errorf("PUT with argument %q", arg)
	}
	s.memo[i] = ""
	return nil
}

// AllowedGlobals returns the sorted names of the classes and functions that a checkpoint may
// mention. Each stands for a plain value; none is executed.
func AllowedGlobals() []string {
	names := []string{}
	for g := range allowed {
		names = append(names, g.String())
	}
	slices.Sort(names)
	return names
}

// RefusedGlobalError is the error of a pickle that names a class or function which no state dict
// needs. The pickle was not interpreted.
type RefusedGlobalError struct {
	Module, Name string
}

// Error names the global and suggests what to do.
func (e *RefusedGlobalError) Error() string {
	return fmt.Sprintf("refused: the pickle asks for %q, which a state dict does not need and which could run code; "+
		"nothing was run (save the tensors alone: torch.save(model.state_dict(), ...))", e.Module+"."+e.Name)
}

func checkGlobal(g global) error {
	if _, ok := allowed[g]; !ok {
		const most = 200
		return &RefusedGlobalError{Module: g.module[:min(len(g.module), most)], Name: g.name[:min(len(g.name), most)]}
	}
	return nil
}
