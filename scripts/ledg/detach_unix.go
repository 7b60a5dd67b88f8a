//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// startDetached starts this program in a session of its own, so that it outlives the
// terminal, or the notebook's cell; the channel gets how it ended.
func startDetached(args []string, log *os.File) (process int, ended <-chan error, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = os.Args[0] // commands that it prints name it as the user does
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return cmd.Process.Pid, done, nil
}
