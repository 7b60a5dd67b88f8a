package labels

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Options are the settings of Open.
type Options struct {
	// Domain returns the domain of an image; ok is false if the data set does not have it, which
	// makes its events errors. Nil accepts any image.
	Domain func(id string) (domain string, ok bool)
	// Rule combines labels of several annotators, until SetRule changes it.
	Rule Rule
}

// DomainIn returns an [Options.Domain] that knows the images of a data set.
func DomainIn(d *datasets.Dataset) func(id string) (domain string, ok bool) {
	return func(id string) (string, bool) {
		i, ok := d.Index(id)
		if !ok {
			return "", false
		}
		return d.Domains[d.Examples[i].Domain], true
	}
}

// Ledger is an open ledger. It is safe for concurrent use, in this process and with
// others.
type Ledger struct {
	path    string
	classes []string
	o       Options

	mu      sync.RWMutex // guards the fields below
	file    *os.File
	lock    *flock.Flock
	state   *State
	offset  int64 // of the events in the state
	notes   []string
	noted   func(note string)
	changed chan struct{} // closed when the state changes

	queueing sync.Mutex // guards the fields below
	queue    []*request
	draining bool
}

// request is a call of Update that waits for its turn.
type request struct {
	make   func(*State) ([]Event, error)
	events []Event
	err    error
	done   chan struct{}
}

// Open opens the ledger in an existing folder, creating the file if needed. classes lists the
// permitted classes, nil for any; an event with another class is an error, whether old or
// appended.
func Open(dir string, classes []string, o Options) (*Ledger, error) {
	if classes != nil {
		if err := datasets.ValidClasses(classes); err != nil {
			return nil, err
		}
	}
	l := &Ledger{path: filepath.Join(dir, File), classes: classes, o: o, changed: make(chan struct{}),
		lock: regular.NewLock(filepath.Join(dir, LockFile), flock.SetPermissions(0o666))}
	if err := l.reopen(); err != nil {
		return nil, err
	}
	if _, err := l.Update(func(*State) ([]Event, error) { return nil, nil }); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Read computes the state of the ledger called name in fsys. An incomplete last line is ignored
// and reported in note. A missing file has no events.
func Read(fsys fs.FS, name string, classes []string, o Options) (s *State, note string, err error) {
	s = newState(classes, o)
	f, err := regular.OpenFS(fsys, name, maxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return s, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	_, torn, err := fold(s, f, name)
	if err != nil {
		return nil, "", err
	}
	if len(torn) > 0 {
		note = fmt.Sprintf("%s:%d: the last line is half-written and left out", name, s.Last()+1)
	}
	return s, note, nil
}

// Path returns the path of the file.
func (l *Ledger) Path() string { return l.path }

// Notes returns the repairs of the file, a sentence each.
func (l *Ledger) Notes() []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return append([]string(nil), l.notes...)
}

// Noted calls f, which must not use the ledger, with every repair so far and to come.
func (l *Ledger) Noted(f func(note string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, note := range l.notes {
		f(note)
	}
	l.noted = f
}

// Close closes the file. All events are on disk already.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.file.Close(), l.lock.Close())
}

// View calls f with the state as known to this process; see Refresh. f must not retain it, nor
// change the ledger.
func (l *Ledger) View(f func(*State)) {
	l.mu.Lock() // a query may note what it found
	defer l.mu.Unlock()
	f(l.state)
}

// Append appends events and returns them, numbered, once they are on disk: all of them, or none
// and an error. It sets N, Act, Round (except for Queried), a known Domain, and At if zero;
// Seconds are rounded to milliseconds. Consecutive events by one annotator form one act, to be
// undone together.
func (l *Ledger) Append(events ...Event) ([]Event, error) {
	return l.Update(func(*State) ([]Event, error) { return events, nil })
}

// Update appends the events that f returns. f sees the state just before the append, including
// events of all other processes. If it returns an error, nothing is appended.
func (l *Ledger) Update(f func(*State) ([]Event, error)) ([]Event, error) {
	r := &request{make: f, done: make(chan struct{})}
	l.queueing.Lock()
	l.queue = append(l.queue, r)
	if !l.draining {
		l.draining = true
		go l.drain()
	}
	l.queueing.Unlock()
	<-r.done
	return r.events, r.err
}

// drain serves requests until there are none; those that came while the disk was busy
// share its next wait.
func (l *Ledger) drain() {
	for {
		l.queueing.Lock()
		batch := l.queue
		l.queue = nil
		if len(batch) == 0 {
			l.draining = false
			l.queueing.Unlock()
			return
		}
		l.queueing.Unlock()
		l.commit(batch)
		for _, r := range batch {
			if r.err != nil {
				r.events = nil
			}
			close(r.done)
		}
	}
}

// lockTimeout is how long an append waits for others, which take milliseconds.
const lockTimeout = 30 * time.Second

// commit appends the events of requests.
func (l *Ledger) commit(batch []*request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fail := func(err error) {
		for _, r := range batch {
			if r.err == nil {
				r.err = err
			}
		}
	}
	if err := l.checkLock(); err != nil {
		fail(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if ok, err := l.lock.TryLockContext(ctx, time.Millisecond); !ok {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("another process has locked it for %v", lockTimeout)
		}
		fail(fmt.Errorf("%s: %w", l.path, err))
		return
	}
	defer l.lock.Unlock()
	if err := l.catchUp(true); err != nil {
		fail(err)
		return
	}
	var text []byte
	for _, r := range batch {
		lines, err := l.take(r)
		if err != nil {
			r.err = err
		}
		text = append(text, lines...)
	}
	if len(text) == 0 {
		return
	}
	if err := l.write(text); err != nil {
		// The state has events that are not on disk.
		l.state, l.offset = newState(l.classes, l.o), 0
		fail(fmt.Errorf("%s: %w", l.path, regular.Bare(err)))
		return
	}
	l.offset += int64(len(text))
	l.tell()
}

// take lets the state take in the events of a request, and returns their lines.
func (l *Ledger) take(r *request) ([]byte, error) {
	made, err := r.make(l.state)
	if err != nil {
		return nil, err
	}
	events := append([]Event(nil), made...)
	if err := l.state.complete(events); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	var text []byte
	for _, e := range events {
		b, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if len(b) > maxLine {
			return nil, fmt.Errorf("%s: event %d: its line has %d bytes, at most %d are taken", l.path, e.N, len(b), maxLine)
		}
		text = append(append(text, b...), '\n')
	}
	for _, e := range events {
		l.state.apply(e)
	}
	r.events = events
	return text, nil
}

// tell wakes those who wait.
func (l *Ledger) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Refresh reads what other processes have appended, without a lock.
func (l *Ledger) Refresh() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.catchUp(false)
}

// refreshEvery is how often Wait looks at the file.
const refreshEvery = 200 * time.Millisecond

// Wait blocks until there is an event after number after, by any process, and returns the newest
// number; or the cause of ctx when it is done.
func (l *Ledger) Wait(ctx context.Context, after int64) (int64, error) {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		l.mu.Lock()
		err := l.catchUp(false)
		last, changed := l.state.Last(), l.changed
		l.mu.Unlock()
		if err != nil || last > after {
			return last, err
		}
		select {
		case <-ctx.Done():
			return last, context.Cause(ctx)
		case <-changed:
		case <-tick.C:
		}
	}
}

// complete fills in what Append does, and checks events, as if each had followed the
// one before.
func (s *State) complete(events []Event) error {
	now := time.Now().UTC()
	turned := make(map[int64]bool)
	fresh := make(map[string]bool)
	for i := range events {
		e := &events[i]
		e.N, e.Act = s.Last()+1+int64(i), 0
		if e.At.IsZero() {
			e.At = now
		}
		e.At = e.At.UTC().Round(0)
		e.Seconds = float64(time.Duration(min(max(e.Seconds, -1), 1e10)*1e3+0.5)) / 1e3
		if e.Kind.acts() {
			if e.Act = e.N; i > 0 && events[i-1].Kind.acts() && events[i-1].By == e.By {
				e.Act = events[i-1].Act
			}
			if e.Round = s.Image(e.ID).Round; fresh[e.ID] {
				return fmt.Errorf("%q is queried and labelled in one call", e.ID)
			}
		} else if e.Kind == Queried {
			fresh[e.ID] = true
		} else {
			e.Round = NoRound
		}
		if domain := s.domainOf(e.ID); domain != "" {
			e.Domain = domain
		}
		if e.Of != 0 && turned[e.Of] {
			return fmt.Errorf("act %d is undone or redone twice in one call", e.Of)
		}
		turned[e.Of] = true
		// The state knows nothing of the events before, which only concerns numbers.
		probe := *e
		probe.N = s.Last() + 1
		if probe.Kind.acts() {
			probe.Act = probe.N
		}
		if err := s.check(probe); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) domainOf(id string) string {
	if s.domain != nil && id != "" {
		name, _ := s.domain(id)
		return strings.ToValidUTF8(name, "\ufffd")
	}
	return s.Image(id).Domain
}

// Question is a queried image.
type Question struct {
	ID        string
	QueryInfo *QueryInfo // nil if nothing is known
}

// Query queries images in a round, in order, and returns the events of those not yet queried in
// it, so an interrupted program can repeat the call. A labelled image is not queried; one
// skipped in an earlier round is queried again.
func (l *Ledger) Query(by string, round int, questions []Question) ([]Event, error) {
	return l.Update(func(s *State) ([]Event, error) {
		var events []Event
		seen := make(map[string]bool)
		for _, q := range questions {
			if seen[q.ID] {
				return nil, fmt.Errorf("%q is queried twice", q.ID)
			}
			seen[q.ID] = true
			switch v := s.Image(q.ID); {
			case v.Round == round && v.Status != IsUnqueried:
				continue
			case v.Status == IsLabelled || v.Status == IsBad || v.Status == IsNone || v.Status == IsUnsure:
				continue
			}
			events = append(events, Event{Kind: Queried, ID: q.ID, Round: round, By: by, QueryInfo: q.QueryInfo})
		}
		return events, nil
	})
}
