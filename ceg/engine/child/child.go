package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// variable is the environment variable that makes a copy of this program serve. Its value is a task in JSON.
const variable = "LEDG_CHILD"

// verbose is the environment variable that shows what children write to standard error.
const verbose = "LEDG_PLUGIN_STDERR"

// task is what a copy is to do.
type task struct {
	Name   string
	Memory int64
}

// receiver is the name of a service for net/rpc, greeting the name of a greeter.
const receiver, greeting = "Child", "Greeting"

// pipes connect two processes.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.ReadCloser.Close(), p.WriteCloser.Close()) }

// whileParent is standard input. Its end means that the parent process is gone, and ends this one.
type whileParent struct{ *os.File }

func (r whileParent) Read(b []byte) (int, error) {
	n, err := r.File.Read(b)
	if n == 0 && err != nil {
		os.Exit(0)
	}
	return n, err
}

// Serve registers the methods of a service under a name. Call it from a function named init; in
// a child process it serves and does not return.
func Serve(name string, service any) {
	var t task
	if json.Unmarshal([]byte(os.Getenv(variable)), &t) != nil || t.Name != name {
		return
	}
	os.Unsetenv(variable)
	signal.Ignore(os.Interrupt) // the parent says what becomes of a terminal's signal
	in, out := os.Stdin, answers()
	os.Stdout = os.Stderr // for what libraries print
	debug.SetMaxStack(64 << 20)
	if t.Memory > 0 {
		debug.SetMemoryLimit(t.Memory / 4 * 3)
		if err := limit(t.Memory); err != nil {
			fmt.Fprintln(os.Stderr, "limiting memory:", err)
			os.Exit(1)
		}
	}
	s := rpc.NewServer()
	if err := errors.Join(s.RegisterName(greeting, greeter{}), s.RegisterName(receiver, service)); err != nil {
		panic(err)
	}
	s.ServeConn(pipes{whileParent{in}, out})
	os.Exit(0)
}

// greeter answers what [Start] asks first.
type greeter struct{}

func (greeter) Hello(int, *int) error { return nil }

// Process is a child process that serves. Its methods are safe for concurrent use.
type Process struct {
	ctx    context.Context
	memory int64
	cmd    *exec.Cmd
	client *rpc.Client
	stderr *head
	ended  chan struct{}

	mu   sync.Mutex
	slow time.Duration // it was ended because it did not answer for so long
	most int64         // bytes of memory that it was seen to take
}

// head stores the beginning of the written data.
type head struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b.Write(b[:max(0, min(len(b), 1<<16-h.b.Len()))])
	return len(b), nil
}

// Start starts a child with the named service and a memory limit in bytes (on Linux; 0 for
// none), until the context ends. The error wraps [ErrCannot] if this program cannot start itself
// again.
func Start(ctx context.Context, name string, memory int64) (*Process, error) {
	p, err := start(ctx, name, memory)
	if err == nil {
		if err = p.call(greeting+".Hello", 10*time.Second, 0, new(int)); err != nil {
			p.Close()
		}
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrCannot, err)
	}
	return p, err
}

// ErrCannot is the reason why work has to run in this process.
var ErrCannot = errors.New("this program cannot start a copy of itself")

func start(ctx context.Context, name string, memory int64) (*Process, error) {
	text, err := json.Marshal(task{name, memory})
	if err != nil {
		return nil, err
	}
	self := "/proc/self/exe" // also after an update
	if runtime.GOOS != "linux" {
		if self, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	p := &Process{ctx: ctx, memory: memory, cmd: exec.CommandContext(ctx, self), stderr: new(head), ended: make(chan struct{})}
	p.cmd.Args = os.Args[:1]
	p.cmd.Env = append(os.Environ(), variable+"="+string(text))
	p.cmd.Stderr, p.cmd.WaitDelay = p.stderr, time.Second
	if os.Getenv(verbose) != "" {
		p.cmd.Stderr = io.MultiWriter(p.stderr, os.Stderr)
	}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.client = rpc.NewClient(pipes{out, in})
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Call calls a method of the service. Without a response within a time, not counting time in
// which this process is stopped, the child is killed. The error of a dead child names the
// reason.
func (p *Process) Call(method string, within time.Duration, args, reply any) error {
	return p.call(receiver+"."+method, within, args, reply)
}

func (p *Process) call(method string, within time.Duration, args, reply any) error {
	call := p.client.Go(method, args, reply, make(chan *rpc.Call, 1))
	const each = 100 * time.Millisecond // not less: ticks are lost that come while this process waits for a processor
	tick := time.NewTicker(each)
	defer tick.Stop()
	for left := within / each; ; {
		select {
		case <-call.Done:
			var remote rpc.ServerError
			if call.Error == nil || errors.As(call.Error, &remote) {
				return call.Error
			}
			p.cmd.Process.Kill() // should it live and its answers be unreadable
			return p.why()
		case <-tick.C:
			p.mu.Lock()
			p.most = max(p.most, p.takes())
			if left--; left == 0 {
				p.slow = within
				p.cmd.Process.Kill()
			}
			p.mu.Unlock()
		}
	}
}

// takes is the memory that the copy takes beside its files; 0 on systems that do not tell.
func (p *Process) takes() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	var size, resident, shared int64
	if _, err2 := fmt.Sscan(string(text), &size, &resident, &shared); err != nil || err2 != nil {
		return 0
	}
	return (resident - shared) * int64(os.Getpagesize())
}

// Close stops the child.
func (p *Process) Close() {
	if p == nil || p.client == nil {
		return
	}
	p.cmd.Process.Kill()
	<-p.ended
	p.client.Close()
}

// LimitError names the limit that ended a child.
type LimitError string

func (e LimitError) Error() string { return string(e) }

var (
	noMemory = regexp.MustCompile(`out of memory|cannot allocate memory|bad_alloc|failed to reserve|pthread_create failed|errno=12`)
	signals  = regexp.MustCompile(`\[signal (SIG[A-Z]+): ([a-z -]+) code`)
)

// why returns why the copy ended.
func (p *Process) why() error {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.stderr.b.String() // all of it, as the copy has ended
	first := complaint(text)
	first = strings.TrimPrefix(strings.TrimPrefix(first, "panic: "), "runtime error: ")
	state := p.cmd.ProcessState.String()
	switch m := signals.FindStringSubmatch(text); {
	case p.ctx.Err() != nil:
		return context.Cause(p.ctx)
	case p.slow > 0:
		return LimitError(fmt.Sprintf("no result after %.0f s", p.slow.Seconds()))
	case strings.Contains(text, "stack exceeds") || strings.Contains(text, "stack overflow"):
		return errors.New("crash: it is nested too deeply")
	case p.memory > 0 && (noMemory.MatchString(text) || state == "signal: killed" || p.most > p.memory/4*3): // C code crashes in many ways
		return LimitError(fmt.Sprintf("more than %.1f GB of memory needed", float64(p.memory)/1e9))
	case m != nil:
		return fmt.Errorf("crash: %s, %s", m[1], m[2])
	case first != "":
		return fmt.Errorf("crash: %.300s", first)
	}
	return fmt.Errorf("crash: %s", state)
}

// fatal is how glog begins the line with which a C++ library ends its process.
var fatal = regexp.MustCompile(`^F[0-9]{4} `)

// complaint returns the line with the reason why a process ended: glog's fatal one, or else the
// first with text.
func complaint(stderr string) (first string) {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		switch {
		case fatal.MatchString(line):
			return line
		case first == "" && !strings.Contains(line, "before absl::InitializeLog()"):
			first = line
		}
	}
	return first
}
