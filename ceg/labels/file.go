package labels

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// reopen opens the file and forgets what was read of another.
func (l *Ledger) reopen() error {
	_, err := os.Lstat(l.path)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
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

// syncFolder waits until a folder's names are on the disk, where that can be asked.
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

// mend completes a last line without a newline, or cuts it off if it is no event. No
// other process is writing it: this one holds the lock.
func (l *Ledger) mend(torn []byte) error {
	at := fmt.Sprintf("%s:%d", l.path, l.state.Last()+1)
	var e Event
	if e.UnmarshalJSON(torn) == nil && l.state.check(e) == nil {
		if err := l.write([]byte("\n")); err != nil {
			return err
		}
		l.state.apply(e)
		l.offset += int64(len(torn)) + 1
		l.notes = append(l.notes, at+": the last line lacked its newline, which is added")
		l.tell()
		return nil
	}
	if err := l.file.Truncate(l.offset); err != nil {
		return err
	}
	l.notes = append(l.notes, fmt.Sprintf("%s: the last line was half-written (%d bytes) when its writer stopped; it is removed, and nobody was told that it was saved", at, len(torn)))
	return nil
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
		err = errors.Join(err, l.file.Truncate(before.Size()))
	}
	return err
}

// fold lets a state take in the whole lines of r, and returns their length and what
// follows them. The error names the line.
func fold(s *State, r io.Reader, name string) (whole int64, torn []byte, err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	for {
		text, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, text, nil
		}
		if err != nil {
			return whole, nil, fmt.Errorf("%s: %w", name, bare(err))
		}
		var e Event
		if err := e.UnmarshalJSON(bytes.TrimSuffix(text, []byte("\n"))); err != nil {
			return whole, nil, fmt.Errorf("%s:%d: %w", name, s.Last()+1, err)
		}
		if err := s.check(e); err != nil {
			return whole, nil, fmt.Errorf("%s:%d: %w", name, s.Last()+1, err)
		}
		s.apply(e)
		whole += int64(len(text))
	}
}

// bare removes the path from an error of a file system, where the message names the
// file already.
func bare(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
