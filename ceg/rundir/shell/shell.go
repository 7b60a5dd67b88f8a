// Package shell formats shell commands for messages.
package shell

import "strings"

// Line returns a command with its arguments, quoted for a shell.
func Line(args ...string) string {
	const plainly = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,@%+-"
	quoted := make([]string, len(args))
	for i, arg := range args {
		if quoted[i] = arg; arg == "" || strings.Trim(arg, plainly) != "" {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
