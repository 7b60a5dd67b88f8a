package shard

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Record describes the content of a journal.
type Record struct {
	// Shard is zero in the journal of a whole file.
	Shard Shard `json:"shard,omitzero"`
	// Total is the number of items of all shards together.
	Total int `json:"total"`
	// Of is a JSON object with everything else that the shards of a file share.
	Of json.RawMessage `json:"of"`
}

// The header is a line of text. An item follows its length, and is followed by the SHA-256 of
// the sum before, the length and the item. The sum before the first item is the header's.
const (
	headerMark = "ledg journal 1 "
	maxHeader  = 1 << 24        // bytes
	maxItem    = 1 << 28        // bytes
	endMark    = math.MaxUint32 // the length that stands for the end
	lockSuffix = ".lock"
)

type sum = [sha256.Size]byte

// next is the sum after an item.
func next(before sum, length [4]byte, item []byte) (s sum) {
	h := registers.SHA256()
	h.Write(before[:])
	h.Write(length[:])
	h.Write(item)
	return sum(h.Sum(s[:0]))
}

// state is how far a journal could be read.
type state struct {
	at      int64 // the end of the last whole item
	sum     sum   // of all up to there
	items   int
	ended   bool // the end was reached
	damaged bool // what follows is whole, but not what was written
}

// readHeader reads the first line, at most maxHeader bytes.
func readHeader(f io.ReaderAt) ([]byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, maxHeader)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}

// scan calls each with the items after a header, and where each begins.
func scan(f io.ReaderAt, header []byte, size int64, each func(item []byte, at int64) error) (state, error) {
	s := state{at: int64(len(header)), sum: sha256.Sum256(header)}
	r := bufio.NewReaderSize(io.NewSectionReader(f, s.at, size-s.at), 1<<16)
	var buf []byte
	for {
		var length [4]byte
		if size-s.at < int64(len(length)+len(sum{})) {
			return s, nil
		}
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return s, err
		}
		n := int64(binary.LittleEndian.Uint32(length[:]))
		ended := n == endMark
		if ended {
			n = 0
		}
		whole := int64(len(length)) + n + int64(len(sum{}))
		if n > maxItem || size-s.at < whole {
			return s, nil
		}
		buf = slices.Grow(buf[:0], int(n)+len(sum{}))[:int(n)+len(sum{})]
		if _, err := io.ReadFull(r, buf); err != nil {
			return s, err
		}
		after := next(s.sum, length, buf[:n])
		if !bytes.Equal(buf[n:], after[:]) {
			s.damaged = true
			return s, nil
		}
		if !ended {
			if err := each(buf[:n:n], s.at+int64(len(length))); err != nil {
				return s, err
			}
			s.items++
		}
		s.at, s.sum, s.ended = s.at+whole, after, ended
		if ended {
			return s, nil
		}
	}
}

// Journal is an open journal, locked by this process.
type Journal struct {
	Record
	state
	file   *os.File
	lock   *flock.Flock
	header []byte
}

// OtherError is the error of a journal of other content.
type OtherError struct{ Path, Differs string }

func (e *OtherError) Error() string {
	return fmt.Sprintf("%s was left by an interrupted call of something else: %s; repeat that call to continue it, or delete the file", e.Path, e.Differs)
}

// Open opens the journal at path, or creates it. It calls each with the finished items and their
// offsets; an item is valid during the call. An incomplete last item is cut off. A journal with
// another record is an [*OtherError], and any other file is an error, too.
func Open(path string, r Record, each func(item []byte, at int64) error) (_ *Journal, err error) {
	j := &Journal{Record: r}
	if j.header, err = r.header(); err != nil {
		return nil, err
	}
	if j.lock, err = acquire(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	if j.file, err = regular.Own(path, 0); err != nil {
		return nil, err
	}
	info, err := j.file.Stat()
	if err != nil {
		return nil, err
	}
	line, err := readHeader(j.file)
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(line, j.header):
	case bytes.HasPrefix(j.header, line) && info.Size() == int64(len(line)): // new, or killed in its header
		j.state = state{at: 0}
		return j, j.restart()
	default:
		return nil, other(path, line, r)
	}
	if j.state, err = scan(j.file, j.header, info.Size(), each); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, j.cut(j.at)
}

// Peek calls each with the finished items of the journal at path, as [Open] does, without a lock
// and without changing it. A journal with another record has none.
func Peek(path string, r Record, each func(item []byte, at int64) error) error {
	header, err := r.header()
	if err != nil {
		return err
	}
	f, err := regular.Open(path, math.MaxInt64)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if line, err := readHeader(f); err != nil || !bytes.Equal(line, header) {
		return err
	}
	if _, err = scan(f, header, info.Size(), each); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// header is the first line of a journal of the record.
func (r Record) header() ([]byte, error) {
	text, err := json.Marshal(r)
	return fmt.Appendf(nil, "%s%s\n", headerMark, text), err
}

// OpenAnew is [Open], but removes a journal with another record first.
func OpenAnew(path string, r Record, each func(item []byte, at int64) error) (*Journal, error) {
	j, err := Open(path, r, each)
	if other := new(OtherError); !errors.As(err, &other) {
		return j, err
	}
	l, err := acquire(path)
	if err != nil {
		return nil, err
	}
	err = os.Remove(path)
	(&Journal{lock: l}).release()
	if err != nil {
		return nil, err
	}
	return Open(path, r, each)
}

// other says what a file is that is not the journal of r.
func other(path string, line []byte, r Record) error {
	old, err := parse(line)
	if err != nil {
		return fmt.Errorf("%s: it is of another program: move it away", path)
	}
	return &OtherError{path, cmp.Or(old.differs(r), fmt.Sprintf("shards %s and %s", old.Shard, r.Shard))}
}

// acquire locks the journal at a path for this process.
func acquire(path string) (*flock.Flock, error) {
	for {
		l := regular.NewLock(path + lockSuffix)
		switch ok, err := l.TryLock(); {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("%s: another process is writing it", path)
		}
		held, err := l.Stat()
		if err != nil {
			l.Unlock()
			return nil, err
		}
		if now, err := os.Lstat(l.Path()); err == nil && os.SameFile(held, now) {
			return l, nil
		}
		l.Unlock() // of a process that has ended meanwhile and has removed it
	}
}

// release closes the file and removes the lock.
func (j *Journal) release() {
	if j.file != nil {
		j.file.Close()
	}
	os.Remove(j.lock.Path()) // before others can have it; Windows keeps the file
	j.lock.Unlock()
}

// cut cuts the file off, and writes there from now on.
func (j *Journal) cut(at int64) error {
	if err := j.file.Truncate(at); err != nil {
		return err
	}
	_, err := j.file.Seek(at, io.SeekStart)
	return err
}

// restart removes the items.
func (j *Journal) restart() error {
	if err := j.cut(0); err != nil {
		return err
	}
	j.state = state{at: int64(len(j.header)), sum: sha256.Sum256(j.header)}
	_, err := j.file.Write(j.header)
	return err
}

// Append adds an item and returns its offset.
func (j *Journal) Append(item []byte) (at int64, err error) {
	if len(item) > maxItem {
		return 0, fmt.Errorf("%s: an item of %d bytes, want at most %d", j.file.Name(), len(item), maxItem)
	}
	j.items++
	return j.write(uint32(len(item)), item)
}

// End marks the journal as complete.
func (j *Journal) End() error {
	if j.ended {
		return nil
	}
	if _, err := j.write(endMark, nil); err != nil {
		return err
	}
	j.ended = true
	return j.file.Sync()
}

func (j *Journal) write(n uint32, item []byte) (at int64, err error) {
	length := [4]byte(binary.LittleEndian.AppendUint32(nil, n))
	at = j.at + int64(len(length))
	j.sum = next(j.sum, length, item)
	b := append(append(append(make([]byte, 0, len(length)+len(item)+len(j.sum)), length[:]...), item...), j.sum[:]...)
	j.at += int64(len(b))
	_, err = j.file.Write(b)
	return at, err
}

// Items is the number of items.
func (j *Journal) Items() int { return j.items }

// Each calls fn with the items, as [Open] does.
func (j *Journal) Each(fn func(item []byte, at int64) error) error {
	s, err := scan(j.file, j.header, j.at, fn)
	if err == nil && s.at != j.at {
		err = fmt.Errorf("%s: damaged at byte %d", j.file.Name(), s.at)
	}
	return err
}

func (j *Journal) ReadAt(p []byte, off int64) (int, error) { return j.file.ReadAt(p, off) }

// Close keeps the journal for the next call, unless it is empty. After Remove it has no effect.
func (j *Journal) Close() {
	if j.file == nil {
		return
	}
	if j.items == 0 && !j.ended {
		j.Remove()
		return
	}
	j.release()
	j.file = nil
}

// Remove closes and removes the journal.
func (j *Journal) Remove() error {
	path := j.file.Name()
	j.file.Close() // Windows removes no file that is open
	err := os.Remove(path)
	j.release()
	j.file = nil
	return err
}
