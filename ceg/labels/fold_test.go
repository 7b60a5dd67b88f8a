package labels

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// slowly returns what the fold makes of an image, found from all events anew.
func slowly(events []Event, id string) (status Status, class string) {
	undone := make(map[int64]bool)
	for _, e := range events {
		if e.Of != 0 {
			undone[e.Of] = e.Kind == Undone
		}
	}
	newest := make(map[Kind]int64) // of each kind, that counts
	var current Event
	replaced := int64(0)
	for _, e := range events {
		if e.QueryInfo != nil && e.QueryInfo.Instead == id {
			replaced = e.N
		}
		if e.ID != id || e.Kind.acts() && undone[e.Act] {
			continue
		}
		newest[e.Kind] = e.N
		if e.Kind.acts() && e.Kind != Skipped && e.Kind != Later {
			current = e
		}
	}
	switch {
	case current.Kind == Bad:
		return IsBad, ""
	case current.Kind == None:
		return IsNone, ""
	case current.Kind == Unsure:
		return IsUnsure, current.Class
	case current.N != 0:
		return IsLabelled, current.Class
	case replaced > newest[Queried]:
		return IsReplaced, ""
	case newest[Skipped] > newest[Queried]:
		return IsSkipped, ""
	case newest[Queried] != 0, newest[Later] != 0:
		return IsOpen, ""
	}
	return IsUnqueried, ""
}

// FuzzFold appends what the bytes say, and compares the fold with one that looks at
// everything anew, and with the fold over the written lines.
func FuzzFold(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{0, 0, 1, 1, 6, 0, 6, 0, 7, 0, 1, 9, 6, 6, 7, 7, 3, 3, 4, 4, 5, 5, 0x40, 0x41, 6, 0, 0x80, 1, 8, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newState(classes, Options{})
		var events []Event
		var text bytes.Buffer
		for i := 0; i+1 < len(data) && i < 400; i += 2 {
			a, b := data[i], data[i+1]
			e := Event{ID: fmt.Sprint(b % 7), Domain: fmt.Sprint(b % 7 % 2), By: fmt.Sprint(a >> 6), At: time.Unix(int64(i), int64(a)), Class: classes[b%3]}
			var list []Event
			switch a % 12 {
			case 0:
				e.Kind, e.Class, e.Round = Queried, "", int(b>>4)
				if b&8 != 0 {
					e.QueryInfo = &QueryInfo{Instead: fmt.Sprint((b >> 5) % 7), Predicted: "cat", Probability: 0.5}
				}
			case 1:
				e.Kind = Labelled
			case 2:
				e.Kind, e.Class = Skipped, ""
			case 3:
				e.Kind = Unsure
				if b&1 == 0 {
					e.Class = ""
				}
			case 4:
				e.Kind, e.Class = Bad, ""
			case 5:
				e.Kind = Corrected
			case 6:
				e = Event{Kind: Undone, By: e.By, Of: s.CanUndo(e.By)}
			case 7:
				e = Event{Kind: Redone, By: e.By, Of: s.CanRedo(e.By)}
			case 8:
				e = Event{Kind: []Kind{Undone, Redone}[b&1], By: e.By, Of: int64(b >> 1)}
			case 9: // a page
				e.Kind = Labelled
				other := e
				other.ID = fmt.Sprint((b + 1) % 7)
				list = append(list, other)
			case 10:
				e.Kind, e.Class = Later, ""
			case 11:
				e.Kind, e.Class = None, ""
			}
			list = append(list, e)
			if s.complete(list) != nil {
				continue
			}
			for _, e := range list {
				s.apply(e)
				events = append(events, e)
				line := fatal.Get(e.MarshalJSON())(t)
				text.Write(append(line, '\n'))
			}
			for _, by := range []string{"0", "1", "2", "3"} {
				if n := s.CanUndo(by); n != 0 && (s.Act(n) == nil || s.records[n-1].undone) {
					t.Fatalf("%s can undo %d", by, n)
				}
				if n := s.CanRedo(by); n != 0 && !s.records[n-1].undone {
					t.Fatalf("%s can redo %d", by, n)
				}
			}
		}
		count, open := make(map[Status]int), 0
		for k := range s.images {
			v := s.show(int32(k))
			status, class := slowly(events, v.ID)
			if v.Status != status || v.Class != class {
				t.Fatalf("%+v, want %v %q, of %+v", v, status, class, events)
			}
			count[status]++
		}
		for c, n := range s.cells {
			count[c.status] -= n
			if c.status == IsOpen {
				open += n
			}
		}
		for status, n := range count {
			if n != 0 {
				t.Fatalf("%d images more are %v than counted", n, status)
			}
		}
		if n := len(s.OpenImages(-1)); n != open {
			t.Fatalf("%d open, %d counted", n, open)
		}
		for _, status := range []Status{IsUnsure, IsSkipped, IsBad, IsNone} {
			for _, v := range s.With(status) {
				if v.Status != status {
					t.Fatalf("%+v is listed as %v", v, status)
				}
			}
		}
		again := newState(classes, Options{})
		if _, torn, err := fold(again, &text, "text"); err != nil || len(torn) > 0 {
			t.Fatal(err)
		}
		s.firstOpen, again.firstOpen = 0, 0
		if !reflect.DeepEqual(s, again) {
			t.Fatal("the fold over the lines is another")
		}
		for i, e := range events {
			if got, _ := again.Event(int64(i + 1)); !reflect.DeepEqual(got, e) {
				t.Fatalf("event %+v came back as %+v", e, got)
			}
		}
	})
}

// FuzzEvent: what can be read is written so that it is read again.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"n":2,"event":"asked","id":"1","round":0,"at":"2026-01-01T00:00:00Z","scores":{"s_u":1},"guess":"x"}`))
	f.Add([]byte(`{"n":2,"event":"asked","id":"1","round":0,"at":"2026-01-01T00:00:00Z","predicted":"x"}`))
	f.Add([]byte(`{"n":9,"event":"answered","raw_id":"/w==","class":"cat","at":"2026-01-01T00:00:00.5+01:00","act":3}`))
	f.Add([]byte(`{"n":9,"event":"undone","of":3,"at":"2026-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e, again Event
		if e.UnmarshalJSON(data) != nil || e.check() != nil {
			return
		}
		text := fatal.Get(e.MarshalJSON())(t)
		if err := again.UnmarshalJSON(text); err != nil || bytes.ContainsRune(text, '\n') {
			t.Fatalf("%s became %s: %v", data, text, err)
		}
		if !e.Kind.acts() {
			e.Act, again.Act = 0, 0
		}
		if e.QueryInfo != nil && len(e.QueryInfo.Scores) == 0 {
			e.QueryInfo.Scores = nil
		}
		if !reflect.DeepEqual(e, again) {
			t.Fatalf("%+v became %+v", e, again)
		}
	})
}

// BenchmarkAppend is an answer on the disk, in a ledger of a million events with
// LEDG_SCALE=1000000.
func BenchmarkAppend(b *testing.B) {
	dir := b.TempDir()
	n := 10_000
	fmt.Sscan(os.Getenv("LEDG_SCALE"), &n)
	l := open(b, dir, Options{})
	for k := 0; k < n; k += 1000 {
		var list []Event
		for i := range min(1000, n-k) {
			list = append(list, labelled(fmt.Sprintf("camera/%07d.jpg", k+i), classes[i%3], "ann"))
		}
		must[[]Event](b)(l.Append(list...))
	}
	start := time.Now()
	other := open(b, dir, Options{})
	opened := time.Since(start)
	i := 0
	for b.Loop() {
		i++
		must[[]Event](b)(l.Append(labelled(fmt.Sprintf("camera/%07d.jpg", i%n), "dog", "bob")))
		other.View(func(s *State) { s.OpenImages(5) })
	}
	b.ReportMetric(opened.Seconds()*1e3, "ms/open")
}
