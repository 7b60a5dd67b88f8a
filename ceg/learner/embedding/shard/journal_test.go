package shard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var record = shard.Record{Shard: shard.Shard{Index: 1, Count: 3}, Total: 7, Of: json.RawMessage(`{"seed":3}`)}

// journal opens a journal, and returns the items that it has.
func journal(t *testing.T, path string, r shard.Record) (*shard.Journal, []string) {
	t.Helper()
	var items []string
	j := fatal.Get(shard.Open(path, r, func(item []byte, at int64) error {
		items = append(items, string(item))
		data, err := os.ReadFile(path)
		if err == nil && string(data[at:at+int64(len(item))]) != string(item) {
			err = fmt.Errorf("%q is not at byte %d", item, at)
		}
		return err
	}))(t)
	t.Cleanup(j.Close)
	return j, items
}

// complete writes a journal with its items and its end.
func complete(t *testing.T, path string, r shard.Record, items ...string) []byte {
	t.Helper()
	j, _ := journal(t, path, r)
	for _, item := range items {
		fatal.Get(j.Append([]byte(item)))(t)
	}
	fatal.If(t, j.End())
	j.Close()
	return fatal.Get(os.ReadFile(path))(t)
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	fatal.If(t, os.WriteFile(path, data, 0o666))
}

// read reads a shard as a merge does.
func read(path string) (items []string, err error) {
	f, err := shard.Read(path)
	if err != nil {
		return nil, err
	}
	return items, f.Each(func(item []byte, _ int64) error { items = append(items, string(item)); return nil })
}

var some = []string{"first", "", "third\nof three lines\n"}

// A journal that was cut anywhere continues with its whole items, to the same bytes; no merge
// takes it before.
func TestContinue(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "q.1-of-3")
	whole := complete(t, path, record, some...)
	if items, err := read(path); err != nil || !slices.Equal(items, some) {
		t.Fatalf("%q, %v", items, err)
	}
	for cut := 0; cut < len(whole); cut += 3 { // each costs a write to the disk
		put(t, path, whole[:cut])
		if _, err := read(path); err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("cut at %d of %d bytes: %v", cut, len(whole), err)
		}
		j, items := journal(t, path, record)
		if len(items) != j.Items() || !slices.Equal(items, some[:len(items)]) {
			t.Fatalf("cut at %d: %q", cut, items)
		}
		for _, item := range some[len(items):] {
			fatal.Get(j.Append([]byte(item)))(t)
		}
		fatal.If(t, j.End())
		j.Close()
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, whole) {
			t.Fatalf("cut at %d: %q, %v", cut, got, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v are left", left)
	}
}

// A flipped bit, and bytes that follow the end, are found wherever they are.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.1-of-3")
	whole := complete(t, path, record, some...)
	for i := range whole {
		for _, bit := range []byte{1, 0x20, 0x80} {
			damaged := bytes.Clone(whole)
			damaged[i] ^= bit
			put(t, path, damaged)
			if items, err := read(path); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
				t.Errorf("bit %#x of byte %d: %q, %v", bit, i, items, err)
			}
		}
	}
	put(t, path, append(bytes.Clone(whole), 0))
	fatal.Says(t, fatal.Err(read(path)), "damaged after byte")
}

// The journal of something else stays as it is.
func TestOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.1-of-3")
	whole := complete(t, path, record, some...)
	another := func(change func(r *shard.Record)) shard.Record { r := record; change(&r); return r }
	for want, r := range map[string]shard.Record{
		"shards 1/3 and 2/3":               another(func(r *shard.Record) { r.Shard.Index = 2 }),
		"shards of 7 and of 8":             another(func(r *shard.Record) { r.Total = 8 }),
		"seed is 3 in one, 4 in the other": another(func(r *shard.Record) { r.Of = json.RawMessage(`{"seed":4}`) }),
	} {
		_, err := shard.Open(path, r, func([]byte, int64) error { return nil })
		if other := new(shard.OtherError); !errors.As(err, &other) || other.Differs != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%q, %v", got, err)
	}
}

// Opening a journal twice is an error that says so, and no lock is left.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "q.1-of-3")
	j, _ := journal(t, path, record)
	for range 2 {
		fatal.Says(t, fatal.Err(shard.Open(path, record, nil)), "another process is writing it")
		other := record
		other.Total++
		if _, err := shard.OpenAnew(path, other, nil); err == nil {
			t.Error("a journal that is open is discarded")
		}
	}
	for _, item := range some {
		fatal.Get(j.Append([]byte(item)))(t)
	}
	for of, want := range map[int]int{record.Total: len(some), 8: 0} { // it can be read
		r, n := record, 0
		r.Total = of
		err := shard.Peek(path, r, func(item []byte, _ int64) error {
			if n++; string(item) != some[n-1] {
				t.Errorf("item %d is %q", n, item)
			}
			return nil
		})
		if err != nil || n != want {
			t.Errorf("%d items of a total of %d, want %d, %v", n, of, want, err)
		}
	}
	fatal.If(t, j.Remove())
	if left, _ := os.ReadDir(dir); len(left) != 0 { // nothing was done
		t.Errorf("%v are left", left)
	}
}

// A merge does not write over a shard.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "q.1-of-3"), filepath.Join(dir, "link")
	complete(t, path, record)
	if err := os.Link(path, link); err != nil {
		t.Skip(err)
	}
	files := []shard.File{{Path: path}}
	for _, out := range []string{path, link} {
		fatal.Says(t, shard.Apart(files, out), out+" is one of the shards")
	}
	if err := shard.Apart(files, dir); err != nil {
		t.Error(err)
	}
}

// FuzzRead reads anything as a shard: no input ends the program, or is taken for more bytes
// than it has.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "seed")
	j := fatal.Get(shard.Open(path, record, nil))(f)
	for _, item := range some {
		fatal.Get(j.Append([]byte(item)))(f)
	}
	fatal.If(f, j.End())
	j.Close()
	whole := fatal.Get(os.ReadFile(path))(f)
	f.Add(whole)
	f.Add(whole[:len(whole)-40])
	f.Add(bytes.Replace(whole, []byte("1/3"), []byte("2/3"), 1))
	f.Add([]byte("ledg journal 1 {}\n\xff\xff\xff\xff"))
	f.Add([]byte("ledg journal 1 {\"shard\":\"0/1\",\"total\":1,\"of\":{}}\n\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "fuzzed")
		put(t, path, data)
		items, err := read(path)
		if err == nil && len(strings.Join(items, "")) > len(data) {
			t.Errorf("%d items", len(items))
		}
		_, _ = shard.Together([]string{path})
		j, err := shard.Open(path, record, func([]byte, int64) error { return nil })
		if err == nil {
			j.Close()
		}
	})
}
