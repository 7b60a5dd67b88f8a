package arrays

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// Float is a type that arrays of floats are read as. Reading float64 as float32
// rounds to the nearest, and what is too large becomes infinite.
type Float interface{ float32 | float64 }

// blockBytes is about how much of a file is read at a time.
const blockBytes = 4 << 20

// Blocks reads a matrix of floats block by block: fn is called with the rows from
// first on, as many as are in the slice, in their order. The slice is valid until
// fn returns. The next block is read meanwhile. It stops at fn's first error and
// returns it as it is, and when ctx is cancelled.
func Blocks[T Float](ctx context.Context, a *Array, fn func(first int, rows []T) error) error {
	rows, cols, err := a.Matrix()
	if err != nil {
		return err
	}
	if !a.dtype.isFloat() {
		return a.Errorf("type %s, want float32 or float64", a.dtype)
	}
	r, err := a.open()
	if err != nil {
		return a.Errorf("%w", err)
	}
	defer r.Close()
	perBlock := 64
	if rows > 0 { // else any number of columns is possible
		perBlock *= max(blockBytes/(cols*a.dtype.size())/64, 1)
	}
	type block struct {
		first int
		rows  []T
		err   error
	}
	ctx, stop := context.WithCancel(ctx)
	full, free := make(chan block), make(chan []T, 2)
	done := make(chan struct{})
	defer func() { stop(); <-done }() // the reader must end before r is closed
	for range 2 {
		free <- make([]T, min(perBlock, rows)*cols)
	}
	go func() {
		defer close(done)
		defer close(full)
		raw := make([]byte, min(perBlock, rows)*cols*a.dtype.size())
		for first := 0; first <= rows; first += perBlock {
			b := block{first: first}
			select {
			case b.rows = <-free:
			case <-ctx.Done():
				return
			}
			b.rows = b.rows[:min(perBlock, rows-first)*cols]
			if len(b.rows) > 0 {
				b.err = fill(b.rows, r, raw, a.dtype)
			}
			if b.err == nil && first+perBlock >= rows {
				b.err = atEnd(r)
			}
			select {
			case full <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil || first+perBlock >= rows {
				return
			}
		}
	}()
	for b := range full {
		if b.err != nil {
			return a.Errorf("%w", b.err)
		}
		if len(b.rows) > 0 {
			if err := fn(b.first, b.rows); err != nil {
				return err
			}
		}
		free <- b.rows[:cap(b.rows)]
	}
	return context.Cause(ctx)
}

// fill reads the next elements of r.
func fill[T Float](dst []T, r io.Reader, raw []byte, t Type) error {
	raw = raw[:len(dst)*t.size()]
	if err := readFull(r, raw); err != nil {
		return err
	}
	if t == Float32 {
		for i := range dst {
			dst[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
		return nil
	}
	for i := range dst {
		dst[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
	}
	return nil
}

// atEnd reads to the end, where an archive checks its sum.
func atEnd(r io.Reader) error {
	var one [1]byte
	n, err := r.Read(one[:])
	switch {
	case n > 0:
		return errors.New("has more data than its shape says")
	case err == nil || errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// ReadAll reads a matrix of floats into memory, row-major.
func ReadAll[T Float](ctx context.Context, a *Array) ([]T, error) {
	rows, cols, err := a.Matrix()
	if err != nil {
		return nil, err
	}
	if !a.dtype.isFloat() {
		return nil, a.Errorf("type %s, want float32 or float64", a.dtype)
	}
	all := make([]T, rows*cols)
	err = Blocks(ctx, a, func(first int, block []T) error {
		copy(all[first*cols:], block)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Ints reads a vector of whole numbers. Floats are an error.
func Ints(a *Array) ([]int, error) {
	n, err := a.Vector()
	if err != nil {
		return nil, err
	}
	if a.dtype.isFloat() {
		return nil, a.Errorf("type %s, want int64 or int32", a.dtype)
	}
	r, err := a.open()
	if err != nil {
		return nil, a.Errorf("%w", err)
	}
	defer r.Close()
	raw := make([]byte, n*a.dtype.size())
	if err := readFull(r, raw); err != nil && n > 0 {
		return nil, a.Errorf("%w", err)
	}
	if err := atEnd(r); err != nil {
		return nil, a.Errorf("%w", err)
	}
	values := make([]int, n)
	for i := range values {
		if a.dtype == Int32 {
			values[i] = int(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		} else {
			values[i] = int(int64(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	}
	return values, nil
}
