package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/datasets"
)

// Runner executes one run, like run.Run. The error is result.ErrLocked if another process is
// working on it.
type Runner func(ctx context.Context, c run.Config, o run.Options) (*result.Result, error)

// Options are the paths and resources of a study. They do not change its results.
type Options struct {
	// Dir is the study's folder, which several studies, processes and machines can share.
	Dir string
	// Jobs is the number of concurrent runs; 0 means 1. Memory grows with it.
	Jobs int
	// Shard selects a part of the runs; the zero value selects all.
	Shard shard.Shard
	// Roots are the folders of images by data set, SplitsDir the folder of the PACS lists; empty
	// searches the root and its parent.
	Roots     map[string]string
	SplitsDir string
	// Labels are files of labels. A run with the setting data.labels takes the file of that digest.
	Labels []string
	// Backend, CacheDir and Workers are as in run.Options. With 0 Workers, GOMAXPROCS is divided
	// among the jobs. Jobs share the backend's devices, such as several GPUs; see engine.Spread.
	Backend, CacheDir string
	Workers           int
	// Revision is this program's (see result.Revision); empty reads it from the build.
	Revision string
	// MixCommits continues a study that another commit of ledg has worked on. This is otherwise
	// an error, since compared runs should have the same code. Runs without a recorded commit
	// are not checked.
	MixCommits bool
	// Observe receives events, one call at a time; it may be nil.
	Observe func(Event)
	// Runner executes the runs; nil means run.Run.
	Runner Runner
	// Poll is the interval at which runs of other processes are checked; 0 means 5 seconds.
	Poll time.Duration
}

// Failure is a failed run with its error.
type Failure struct {
	Run Job
	Err error
}

// Report lists the outcome of a study's runs, in the order of the plan.
type Report struct {
	// Finished lists the finished runs; Repeated counts those that were finished before this
	// call.
	Finished []Job
	Repeated int
	// Unchecked lists data sets without a root: whether their finished runs are of the present data is
	// not known.
	Unchecked []string
	// Failed lists runs whose last attempt failed, here or in another current process.
	Failed []Failure
	// Left lists runs that were not reached because the context was cancelled.
	Left []Job
}

// Run executes the missing runs of a study: it writes the plan into the folder, skips finished
// runs, resumes interrupted ones, and retries failed ones. A failure is recorded and does not
// stop the others. Runs of other processes are skipped and checked again later. When ctx is
// cancelled, Run returns its cause and the report so far.
func (s Study) Run(ctx context.Context, o Options) (Report, error) {
	p, err := s.Plan()
	if err != nil {
		return Report{}, err
	}
	return p.Run(ctx, o)
}

// Run is Study.Run for the runs of the plan.
func (p *Plan) Run(ctx context.Context, o Options) (Report, error) {
	if o.Jobs < 0 || o.Shard.Count < 0 || o.Shard.Index < 0 || o.Shard.Count > 0 && o.Shard.Index >= o.Shard.Count {
		return Report{}, fmt.Errorf("%d jobs, shard %d of %d: want 0 or more jobs, and shards from 0", o.Jobs, o.Shard.Index, o.Shard.Count)
	}
	o.Jobs = max(o.Jobs, 1)
	o.Workers = cmp.Or(o.Workers, max(1, runtime.GOMAXPROCS(0)/o.Jobs))
	o.Poll = cmp.Or(o.Poll, 5*time.Second)
	specs := slices.Repeat([]string{o.Backend}, o.Jobs)
	if o.Runner == nil {
		o.Runner = run.Run
		var err error
		if specs, err = engine.Spread(o.Backend, o.Jobs); err != nil {
			return Report{}, err
		}
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return Report{}, err
	}
	folder := result.OpenRuns(o.Dir)
	if err := p.announce(folder, o); err != nil {
		return Report{}, err
	}
	unchecked, err := p.checkFolder(ctx, folder, o)
	if err != nil {
		return Report{}, err
	}
	q, err := newQueue(p, folder, o)
	if err != nil {
		return Report{}, err
	}
	var workers sync.WaitGroup
	for _, backend := range specs {
		workers.Go(func() { q.work(ctx, backend) })
	}
	workers.Wait()
	if err := q.shared.Close(); err != nil {
		return Report{}, err
	}
	report := q.report()
	report.Unchecked = unchecked
	if len(report.Left) > 0 {
		return report, context.Cause(ctx)
	}
	return report, nil
}

// outcome is how a run of the queue stands.
type outcome uint8

const (
	waiting outcome = iota
	running
	finished
	failed
)

// queue hands runs to workers.
type queue struct {
	o      Options
	folder *result.Runs
	runs   []Job
	// before holds the marks of failures that were there when the study began: a
	// mark that is not among them is another process's, made meanwhile.
	before map[string]time.Time
	labels map[string]string // digest to path
	shared examples.Shared

	mu       sync.Mutex
	state    []outcome
	errs     []error
	notUntil []time.Time // when to look again at runs of other processes
	repeated int
	progress meter
}

func newQueue(p *Plan, folder *result.Runs, o Options) (*queue, error) {
	files, err := labelFiles(o.Labels)
	if err != nil {
		return nil, err
	}
	q := &queue{o: o, folder: folder, before: map[string]time.Time{}, labels: files}
	seen := map[string]bool{}
	for _, r := range p.Runs {
		if seen[r.Dir] { // under another label
			continue
		}
		if o.Shard.Whole() || len(seen)%o.Shard.Count == o.Shard.Index { // every Count-th run from number Index on
			q.runs = append(q.runs, r)
		}
		seen[r.Dir] = true
	}
	q.state, q.errs = make([]outcome, len(q.runs)), make([]error, len(q.runs))
	q.notUntil = make([]time.Time, len(q.runs))
	q.progress = newMeter(q.runs)
	for i, r := range q.runs {
		if t, ok := result.FailureTime(o.Dir, r.Dir); ok {
			q.before[r.Dir] = t
		}
		switch s, err := folder.State(r.Dir); {
		case err != nil:
			return nil, err
		case s == result.Complete:
			q.state[i] = finished
			q.repeated++
			q.progress.skip(i)
		}
	}
	return q, nil
}

// work does runs on a backend until none is left for this worker.
func (q *queue) work(ctx context.Context, backend string) {
	for ctx.Err() == nil {
		i, pause, ok := q.next()
		switch {
		case ok:
			q.do(ctx, i, backend)
		case pause > 0:
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		default:
			return
		}
	}
}

// next returns the first run that has not been tried, or else one of another process if it is
// time to check again. If there is none yet, it returns how long to pause.
func (q *queue) next() (i int, pause time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	best := -1
	for i, s := range q.state {
		if s == waiting && (best < 0 || q.notUntil[i].Before(q.notUntil[best])) {
			best = i
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	if pause := time.Until(q.notUntil[best]); pause > 0 {
		return 0, pause, false
	}
	q.state[best] = running
	return best, 0, true
}

// do tries a run and notes what came of it.
func (q *queue) do(ctx context.Context, i int, backend string) {
	r := q.runs[i]
	if err := q.failedElsewhere(r); err != nil {
		q.settle(i, failed, err, nil)
		return
	}
	if s, err := q.folder.State(r.Dir); err == nil && (s == result.Running || s == result.Finishing) {
		q.busy(i, fmt.Errorf("%s: %w", r.Dir, result.ErrLocked))
		return
	}
	q.tell(i, Event{Kind: Started})
	// The last attempt is this one now: killed in the middle it has not failed.
	if err := result.RemoveFailure(q.o.Dir, r.Dir); err != nil {
		q.settle(i, failed, err, nil)
		return
	}
	res, err := q.attempt(ctx, i, backend)
	switch {
	case err == nil:
		q.settle(i, finished, nil, res)
	case ctx.Err() != nil: // interrupted, whatever the error says
		q.settle(i, waiting, nil, nil)
	case errors.Is(err, result.ErrLocked):
		q.busy(i, err)
	case errors.Is(err, result.ErrTaken): // the run that is there now has not failed
		q.settle(i, failed, err, nil)
	default:
		err = errors.Join(err, result.WriteFailure(q.o.Dir, r.Dir, err))
		q.settle(i, failed, err, nil)
	}
}

// busy leaves a run to another process.
func (q *queue) busy(i int, err error) {
	q.mu.Lock()
	q.notUntil[i] = time.Now().Add(q.o.Poll)
	q.mu.Unlock()
	q.settle(i, waiting, err, nil)
}

// attempt runs the runner; a panic becomes an error.
func (q *queue) attempt(ctx context.Context, i int, backend string) (res *result.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c := q.runs[i].Config
	root := q.o.Roots[c.Data.Dataset]
	if info, _ := datasets.Lookup(c.Data.Dataset); root == "" && info.Files {
		if info.Vectors {
			return nil, fmt.Errorf("the data set %[1]s needs a file (--root %[1]s=FILE)", c.Data.Dataset)
		}
		return nil, fmt.Errorf("the data set %[1]s needs a folder (--root %[1]s=DIR, or $LEDG_DATA/%[1]s)", c.Data.Dataset)
	}
	if c.Data.Labels != "" && q.labels[c.Data.Labels] == "" && !checkpoint.Exists(filepath.Join(q.o.Dir, q.runs[i].Dir)) {
		return nil, fmt.Errorf("data.labels is %.12s, and no file of labels has this digest (--labels FILE)", c.Data.Labels)
	}
	o := run.Options{
		Dir: filepath.Join(q.o.Dir, q.runs[i].Dir), Resume: true, Root: root, SplitsDir: q.o.SplitsDir,
		Labels: q.labels[c.Data.Labels], Backend: backend, CacheDir: q.o.CacheDir, Workers: q.o.Workers,
		Shared:  &q.shared,
		Observe: func(e run.Event) { q.tell(i, Event{Kind: Training, Training: e}) },
	}
	if o.Weights, o.Style, err = model.OpenWeights(ctx, &c, q.runs[i].weights, checkpoint.Exists(o.Dir), nil); err != nil {
		return nil, err
	}
	return q.o.Runner(ctx, c, o)
}

// failedElsewhere returns the error of a run that another process has tried
// since this one began.
func (q *queue) failedElsewhere(r Job) error {
	t, ok := result.FailureTime(q.o.Dir, r.Dir)
	if !ok || t.Equal(q.before[r.Dir]) {
		return nil
	}
	text, err := result.ReadFailure(q.o.Dir, r.Dir)
	if err != nil {
		return err
	}
	return errors.New(text)
}

// settle enters what came of a run.
func (q *queue) settle(i int, s outcome, err error, res *result.Result) {
	q.mu.Lock()
	q.state[i], q.errs[i] = s, err
	q.mu.Unlock()
	switch {
	case s == finished:
		q.tell(i, Event{Kind: Finished, Result: res})
	case s == failed:
		q.tell(i, Event{Kind: Failed, Err: err})
	case err != nil:
		q.tell(i, Event{Kind: Busy, Err: err})
	default:
		q.tell(i, Event{Kind: Interrupted})
	}
}

// tell reports an event of a run to the observer.
func (q *queue) tell(i int, e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.progress.count(i, e)
	if q.o.Observe == nil {
		return
	}
	e.Run = q.runs[i]
	e.Progress = q.progress.now(q.state)
	q.o.Observe(e)
}

func (q *queue) report() Report {
	report := Report{Repeated: q.repeated}
	for i, r := range q.runs {
		switch q.state[i] {
		case finished:
			report.Finished = append(report.Finished, r)
		case failed:
			report.Failed = append(report.Failed, Failure{r, q.errs[i]})
		default:
			report.Left = append(report.Left, r)
		}
	}
	return report
}
