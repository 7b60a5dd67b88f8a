package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// A short form of testdata/torture.sh loses nothing.
func TestTorture(t *testing.T) {
	testall.Need(t, "ill-treats the program for half a minute")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	cmd := exec.Command(bash, filepath.Join("testdata", "torture.sh"), "12")
	cmd.Env = append(os.Environ(), "LEDG="+ledg)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.HasSuffix(string(out), "\n0 lost\n") {
		t.Error(err)
	}
}
