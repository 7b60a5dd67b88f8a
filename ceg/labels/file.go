package labels

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/datasets/regular"
)

// maxLine is the longest line that an event may have, maxLedger the longest file that is
// read, in bytes.
const maxLine, maxLedger = 1 << 20, 4 << 30

// reopen opens the file and forgets what was read of another. A link is not followed: only this
// folder's own file is appended to and repaired.
func (l *Ledger) reopen() error {
	if err := l.checkLock(); err != nil {
		return err
	}
	_, err := os.Lstat(l.path)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := regular.Own(l.path, os.O_APPEND)
	if err != nil {
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file, l.state, l.offset = f, newState(l.classes, l.o), 0
	if !isNew {
		return nil
	}
	return syncFolder(filepath.Dir(l.path)) // the name is to survive a crash, too
}

// checkLock returns an error if the lock is not a regular file; other users could replace it at
// any time.
func (l *Ledger) checkLock() error {
	lock, err := os.Lstat(l.lock.Path())
	if err == nil {
		err = regular.Check(lock, lock.Size())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", l.lock.Path(), regular.Bare(err))
	}
	return nil
}

// syncFolder syncs a folder's names to disk, where supported.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync() // not every system can
	return nil
}

// catchUp folds what was appended since the last time. Under the lock it also mends
// the end of the file.
func (l *Ledger) catchUp(locked bool) error {
	now, err := os.Stat(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	own, err := l.file.Stat()
	if err != nil {
		return err
	}
	if now == nil && l.state.Last() > 0 {
		if !locked {
			return nil
		}
		if err := l.restore(); err != nil {
			return fmt.Errorf("%s was deleted while it was open, and cannot be written again: %w", l.path, regular.Bare(err))
		}
		if now, err = os.Stat(l.path); err != nil {
			return err
		}
		if own, err = l.file.Stat(); err != nil {
			return err
		}
	}
	if now == nil || !os.SameFile(now, own) || own.Size() < l.offset {
		if err := l.reopen(); err != nil { // somebody put another file there
			return err
		}
		if own, err = l.file.Stat(); err != nil {
			return err
		}
	}
	if own.Size() == l.offset {
		return nil
	}
	before := l.state.Last()
	whole, torn, err := fold(l.state, io.NewSectionReader(l.file, l.offset, own.Size()-l.offset), l.path)
	l.offset += whole
	if l.state.Last() > before {
		l.tell()
	}
	if err != nil || len(torn) == 0 || !locked {
		return err
	}
	return l.mend(torn)
}

// restore writes a deleted file again, with the events that are known. This process holds the lock.
func (l *Ledger) restore() error {
	name := filepath.Join(filepath.Dir(l.path), "."+File+".tmp-again")
	os.Remove(name) // of a restore that was killed
	part, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	var size int64
	for n := int64(1); n <= l.state.Last() && err == nil; n++ {
		e, _ := l.state.Event(n)
		var text []byte
		if text, err = e.MarshalJSON(); err == nil {
			_, err = part.Write(append(text, '\n'))
			size += int64(len(text)) + 1
		}
	}
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	if err := os.Rename(name, l.path); err != nil {
		return err
	}
	f, err := regular.Own(l.path, os.O_APPEND)
	if err != nil {
		return err
	}
	l.file.Close()
	l.file, l.offset = f, size
	l.note("%s was deleted while it was open: it is written again with its %d events", l.path, l.state.Last())
	return syncFolder(filepath.Dir(l.path))
}

func (l *Ledger) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
	if l.noted != nil {
		l.noted(l.notes[len(l.notes)-1])
	}
}

// mend completes a last line without newline, or moves it to a file beside if it is not an
// event. No other process is writing: this one holds the lock.
func (l *Ledger) mend(torn []byte) error {
	at := fmt.Sprintf("%s:%d", l.path, l.state.Last()+1)
	var e Event
	if e.UnmarshalJSON(torn) == nil && l.state.check(e) == nil {
		if err := l.write([]byte("\n")); err != nil {
			return err
		}
		l.state.apply(e)
		l.offset += int64(len(torn)) + 1
		l.note("%s: the last line lacked its newline, which is added", at)
		l.tell()
		return nil
	}
	backup, err := os.CreateTemp(filepath.Dir(l.path), File+".cut-*")
	if err != nil {
		return err
	}
	_, err = backup.Write(torn)
	if err = errors.Join(err, backup.Sync(), backup.Close()); err == nil {
		err = l.cut(l.offset)
	}
	if err != nil {
		os.Remove(backup.Name())
		return fmt.Errorf("%s: the half-written last line is left: %w", at, err)
	}
	l.note("%s: the last line was half-written (%d bytes) when its writer stopped; it is moved to %s, and was never reported as saved", at, len(torn), backup.Name())
	return nil
}

// isTorn reports whether text can be what a crash has left of the state's next event: the
// beginning of its line, and zeros where a file system had not written yet. In an empty
// ledger it must be long enough to tell it from a file of somebody else.
func (s *State) isTorn(text []byte) bool {
	begins := fmt.Appendf(nil, `{"n":%d,"event":"`, s.Last()+1)
	text = bytes.TrimRight(text, "\x00")
	return bytes.HasPrefix(text, begins) || s.Last() > 0 && bytes.HasPrefix(begins, text)
}

// write appends text and waits until it is on the disk. When it fails the file is cut
// back to what it was, as far as that is possible.
func (l *Ledger) write(text []byte) error {
	before, err := l.file.Stat()
	if err != nil {
		return err
	}
	_, err = l.file.Write(text)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		err = errors.Join(err, l.cut(before.Size()))
	}
	return err
}

// cut shortens the file through a handle of its own, since Windows cuts nothing through
// one that is open for appending.
func (l *Ledger) cut(size int64) error {
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	own, err := l.file.Stat()
	now, err2 := f.Stat()
	if err = errors.Join(err, err2); err == nil && !os.SameFile(own, now) {
		err = errors.New("another file is there by now")
	}
	if err == nil {
		err = f.Truncate(size)
	}
	return errors.Join(err, f.Close())
}

// fold lets a state take in the whole lines of r, and returns their length and what a
// crash has left behind them. The error names the line.
func fold(s *State, r io.Reader, name string) (whole int64, torn []byte, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine+1)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) { // with their newlines
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 && atEOF {
			n = len(data)
		}
		if n == 0 {
			return 0, nil, nil
		}
		return n, data[:n], nil
	})
	for lines.Scan() {
		text, ends := bytes.CutSuffix(lines.Bytes(), []byte("\n"))
		size := int64(len(lines.Bytes()))
		if s.Last() == 0 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if ends && len(bytes.TrimSpace(text)) == 0 {
			s.blank, whole = s.blank+1, whole+size
			continue
		}
		if !ends && s.isTorn(text) {
			return whole, bytes.Clone(text), nil
		}
		var e Event
		if err = e.UnmarshalJSON(text); err == nil {
			err = s.check(e)
		}
		if err == nil && !ends {
			return whole, bytes.Clone(text), nil
		}
		if err != nil {
			break
		}
		s.apply(e)
		whole += size
	}
	switch err = cmp.Or(lines.Err(), err); {
	case err == nil:
		return whole, nil, nil
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("the line has more than %d bytes", maxLine)
	}
	if s.Last() == 0 {
		return whole, nil, fmt.Errorf("%s:1: is not a line of a ledger, so the file is left as it is: %w", name, regular.Bare(err))
	}
	return whole, nil, fmt.Errorf("%s:%d: %w", name, s.Last()+1+s.blank, regular.Bare(err))
}
