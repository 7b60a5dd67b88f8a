//go:build !unix

package main

import (
	"errors"
	"os"
)

func startDetached([]string, *os.File) (int, <-chan error, error) {
	return 0, nil, errors.New("--detach: this system has no sessions; start ledg label in a terminal of its own")
}
