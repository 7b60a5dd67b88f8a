//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// startDetached starts this program in a session of its own, so that it outlives the
// terminal, or the notebook's cell. The channel is closed when it ends.
func startDetached(args []string, log *os.File) (<-chan struct{}, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	return ended, nil
}
