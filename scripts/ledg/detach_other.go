//go:build !unix

package main

import (
	"errors"
	"os"
)

func startDetached([]string, *os.File) (<-chan struct{}, error) {
	return nil, errors.New("--detach: this system has no sessions; start ledg label in a terminal of its own")
}
