// Package shell writes the commands that messages suggest.
package shell

import "strings"

// Line returns a command and its arguments as they are typed into a shell.
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
