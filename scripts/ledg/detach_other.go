//go:build !unix

package main

import (
	"errors"
	"os"
)

func startDetached([]string, *os.File) (int, <-chan error, error) {
	return 0, nil, errors.New("--detach is not supported on this system; start ledg label in its own terminal")
}
