//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// One signal ends a command that does not stop by itself, with a line.
func TestGrace(t *testing.T) {
	const variable = "LEDG_TEST_GRACE"
	if os.Getenv(variable) != "" {
		grace = 200 * time.Millisecond
		os.Args = os.Args[:1]
		Main(&cobra.Command{Use: "endless", RunE: func(*cobra.Command, []string) error {
			fmt.Println("begun")
			select {}
		}})
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestGrace$")
	cmd.Env = append(os.Environ(), variable+"=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	fatal.Get(io.ReadFull(out, make([]byte, len("begun"))))(t)
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	fatal.If(t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait()
	const want = "endless: interrupted within a step that takes longer than 200ms; finished work is saved\n"
	if status := cmd.ProcessState.ExitCode(); status != 1 || errs.String() != want {
		t.Errorf("status %d, stderr %q, want 1 and %q", status, errs.String(), want)
	}
}
