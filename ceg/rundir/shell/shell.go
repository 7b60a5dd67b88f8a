// Package shell formats shell commands for messages.
package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is ledg as the user has to type it: by its path if it was started by one, as bin/ledg,
// and no ledg is in PATH.
func program(started string) string {
	if filepath.Base(started) != "ledg" || !strings.ContainsRune(started, filepath.Separator) {
		return "ledg"
	}
	if _, err := exec.LookPath("ledg"); err == nil {
		return "ledg"
	}
	return started
}

// Line returns a command with its arguments, quoted for a shell. A first argument ledg becomes
// the path by which ledg was started, unless it is in PATH.
func Line(args ...string) string {
	if len(args) > 1 && args[0] == "ledg" {
		args = append([]string{program(os.Args[0])}, args[1:]...)
	}
	const plainly = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,@%+-"
	quoted := make([]string, len(args))
	for i, arg := range args {
		if quoted[i] = arg; arg == "" || strings.Trim(arg, plainly) != "" {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
