// Package cli is what the programs of this repository share as commands: how an error
// becomes one line and an exit status, and flags of the same meaning.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/datasets"
)

// grace is how long a command may take to end after a signal. A step that is computed cannot be
// stopped, and files are written completely or not at all, so nothing is lost without it.
var grace = 4 * time.Second

// Main executes the command line of this process and ends it. The first SIGINT or
// SIGTERM cancels the command's context and ends the process after some seconds, a
// second one kills.
func Main(root *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // the default handling is back
		time.AfterFunc(grace, func() {
			fmt.Fprintf(os.Stderr, "%s: interrupted within a step that takes longer than %s; finished work is saved\n", root.Name(), grace)
			os.Exit(1)
		})
	})
	os.Exit(Run(ctx, root, os.Args[1:], os.Stdout, os.Stderr))
}

// Run executes one command line and returns the exit status. Results go to
// stdout; everything else, and exactly one line for an error, goes to stderr. Control
// characters in foreign text are escaped in both.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	out, errs := &plain{to: stdout}, &plain{to: stderr}
	defer out.end()
	defer errs.end()
	root.SetOut(out)
	root.SetErr(errs)
	started := false // else the command line itself is refused
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		err := cmp.Or(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups())
		started = err == nil
		return err
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	err = moved(cmd, err)
	if line := example(cmd); line != "" && isMissing(err) {
		err = Usagef("%w; for example: %s", err, line)
	} else if !started {
		err = Usagef("%w (see %s --help)", err, cmd.CommandPath())
	}
	fmt.Fprintf(stderr, "%s: %s\n", root.Name(), OneLine(err))
	var other interface{ ExitStatus() int }
	if errors.As(err, &other) {
		return other.ExitStatus()
	}
	return 1
}

// example returns the first line of a command's examples that is about the given --dataset, else
// the first line.
func example(cmd *cobra.Command) string {
	lines := strings.Split(strings.TrimSpace(cmd.Example), "\n")
	line := lines[0]
	if f := cmd.Flags().Lookup("dataset"); f != nil && f.Changed {
		if k := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "--dataset "+f.Value.String()+" ") }); k >= 0 {
			line = lines[k]
		}
	}
	line, _, _ = strings.Cut(line, " #")
	return strings.TrimSpace(line)
}

// isMissing reports whether an error of usage is about a flag that was not given.
func isMissing(err error) bool {
	text := err.Error()
	var usage *usageError
	return strings.HasPrefix(text, "required flag") || errors.As(err, &usage) && strings.HasPrefix(text, "--") && strings.Contains(text, " is missing")
}

// usageError is a mistake in how the command was called.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func (e *usageError) ExitStatus() int { return 2 }

// Usagef returns an error with the formatted text that ends the program with status 2:
// an unknown flag, a value out of range, a target domain that does not exist, a budget
// above the pool. Every other error ends it with 1, unless it has an ExitStatus of its
// own; %w wraps as in fmt.Errorf. The text names the flag or argument, what it got and
// what it wants: `--budget "0%": want 1 to 120 labels or a share of the pool such as 5%`.
func Usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// maxError is how much of an error is printed, in bytes: a cell or a setting that it names
// may be of any length.
const maxError = 2000

// moved adds to the error of images that are no longer where they were how to say where they are.
func moved(cmd *cobra.Command, err error) error {
	var gone *datasets.GoneError
	if !errors.As(err, &gone) {
		return err
	}
	for _, name := range []string{"images", "root"} {
		if f := cmd.Flags().Lookup(name); f != nil && !f.Changed && f.Annotations[cobra.BashCompOneRequiredFlag] == nil {
			return fmt.Errorf("%w; if the images have moved, --%s DIR says where they are now", err, name)
		}
	}
	return err
}

// goTypes are what encoding/json says of values in files, by Go's names of types.
var goTypes = []struct {
	words *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`json: cannot unmarshal (\w+)( \S+)? into Go struct field (?:\w*\.)?(\S+) of type \S+`), "its $3 ($1$2) is not taken"},
	{regexp.MustCompile(`json: cannot unmarshal (\w+)( \S+)? into Go value of type (?:struct \{.*\}|\S+)`), "its value ($1$2) is not taken"},
}

// OneLine returns the text of err on one line, for the last line of stderr: without its
// middle if it is long, without names of Go's types, and without what a terminal would take
// for a command.
func OneLine(err error) string {
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	text := Printable(strings.Join(parts, " "))
	for _, t := range goTypes {
		text = t.words.ReplaceAllString(text, t.plain)
	}
	if len(text) > maxError {
		const end = maxError / 4
		text = strings.ToValidUTF8(text[:maxError-end], "") + " ... " + strings.ToValidUTF8(text[len(text)-end:], "")
	}
	return text
}
