package child

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func init() { Serve("tests", service{}) }

// service does what networks from strangers do.
type service struct{}

func (service) Double(n int, to *int) error { *to = 2 * n; return nil }

func (service) Fail(text string, _ *int) error { return errors.New(text) }

func (service) Do(what string, _ *int) error {
	switch what {
	case "sleep":
		time.Sleep(time.Hour)
	case "turn":
		for n := 0; ; n++ {
		}
	case "take":
		for {
			taken = append(taken, make([]byte, 64<<20))
			for i := range taken[len(taken)-1] {
				taken[len(taken)-1][i] = 1
			}
		}
	case "panic":
		panic("so it is")
	case "recurse":
		return recurse(0)
	case "fault":
		*(*int)(nil) = 1
	case "leave":
		os.Exit(3)
	case "print":
		os.Stdout.WriteString("into the answers")
	case "print as C":
		os.NewFile(1, "stdout").WriteString("into the answers")
	}
	return nil
}

var taken [][]byte

func recurse(n int) error {
	if n < 0 {
		return nil
	}
	return errors.Join(recurse(n+1), recurse(n+2))
}

// Whatever a copy does, a call ends in time, with an error of one line.
func TestCall(t *testing.T) {
	for what, want := range map[string]string{
		"sleep":      "no result after 2 s",
		"turn":       "no result after 2 s",
		"panic":      "crash: so it is",
		"recurse":    "crash: it is nested too deeply",
		"fault":      "crash: SIGSEGV, segmentation violation",
		"leave":      "crash: exit status 3",
		"take":       "more than 0.3 GB of memory needed",
		"print":      "",
		"print as C": "",
	} {
		t.Run(what, func(t *testing.T) {
			if what == "print as C" && runtime.GOOS == "windows" {
				t.Skip("there libraries share standard output")
			}
			if what == "take" && runtime.GOOS != "linux" {
				t.Skip("memory is limited on Linux alone")
			}
			t.Parallel()
			p, err := Start(t.Context(), "tests", 300e6)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			within := time.Minute
			if strings.Contains(want, "2 s") {
				within = 2 * time.Second
			}
			err = p.Call("Do", within, what, new(int))
			if got := ""; err != nil {
				if got = err.Error(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			} else if want != "" {
				t.Errorf("no error, want %q", want)
			}
			var n int
			if err := p.Call("Double", time.Minute, 21, &n); (err == nil) != (want == "") || err == nil && n != 42 {
				t.Errorf("afterwards: %d, %v", n, err)
			}
		})
	}
}

// Calls may be concurrent, an error is the service's, and the copy ends with the context.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := Start(ctx, "tests", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Call("Fail", time.Minute, "no", new(int)); err == nil || err.Error() != "no" {
		t.Errorf("got %v, want no", err)
	}
	sleeping := make(chan error)
	go func() { sleeping <- p.Call("Do", time.Hour, "sleep", new(int)) }()
	var n int
	if err := p.Call("Double", time.Minute, 4, &n); err != nil || n != 8 {
		t.Errorf("beside another call: %d, %v", n, err)
	}
	stop := errors.New("stopped")
	cancel(stop)
	if err := <-sleeping; !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
	if _, err := Start(ctx, "tests", 0); !errors.Is(err, stop) && !errors.Is(err, context.Canceled) || errors.Is(err, ErrCannot) {
		t.Errorf("with an ended context: %v", err)
	}
}

// TestMain ends a child whose service is not registered, as a program without it would end.
func TestMain(m *testing.M) {
	if os.Getenv(variable) != "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A child whose service is not registered cannot start.
func TestCannot(t *testing.T) {
	if p, err := Start(t.Context(), "absent", 0); !errors.Is(err, ErrCannot) {
		p.Close()
		t.Errorf("got %v, want %v", err, ErrCannot)
	}
}
