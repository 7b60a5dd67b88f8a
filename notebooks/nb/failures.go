package nb

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// failure is a run that failed, what it is called, and why.
type failure struct {
	method, target, run string
	seed                uint64
	err                 error
}

// failures are the runs of this cell that failed; those from listed on are not shown yet.
var (
	failures []failure
	listed   int
)

// ended is what [Check] panics with in an attempt.
type ended struct{ err error }

// attempts is the number of attempts under way.
var attempts int

// attempt calls f and returns the error that would end the cell, or the panic of a cell's own code, with
// the line of the cell. A panic of other code stays one.
func attempt(f func()) (err error) {
	attempts++
	defer func() {
		attempts--
		switch p := recover().(type) {
		case nil:
		case ended:
			err = located(p.err)
		default:
			at := lineOf(string(debug.Stack()))
			if at == "" {
				panic(p)
			}
			err = fmt.Errorf("%v, at %s", p, at)
		}
	}()
	f()
	return nil
}

// declared are the lines that declare strategies and objectives, by their names, and cells the files of
// these lines. In GoNB all cells are one file, and its kernel writes the cell beside a line.
var declared, cells = map[string]string{}, map[string]bool{}

var stackLine = regexp.MustCompile(`(?m)^\t(.+\.go):(\d+)`)

// lineOf returns the innermost line of a stack that is in a cell, "" if none is.
func lineOf(stack string) string {
	for _, m := range stackLine.FindAllStringSubmatch(stack, -1) {
		if cells[m[1]] {
			return readable(m[1]) + ":" + m[2]
		}
	}
	return ""
}

// located adds the line of the cell to an error, if an error of its chain prints a stack with one.
func located(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if at := lineOf(fmt.Sprintf("%+v", e)); at != "" {
			return fmt.Errorf("%w, at %s", err, at)
		}
	}
	return err
}

// readable is the path of a file of cells, which -trimpath has cut.
func readable(file string) string {
	if dir := os.Getenv("GONB_TMP_DIR"); dir != "" && !filepath.IsAbs(file) {
		return filepath.Join(dir, filepath.Base(file))
	}
	return file
}

// broken are the errors of declarations, by the name that they return.
var broken = map[string]error{}

var variable = regexp.MustCompile(`^\s*(?:var\s+)?(\w+)[^=(]*=`)

// registered returns the name of a strategy or objective that a cell has declared. GoNB repeats declarations in
// every later cell, so in a notebook an error is a note, and ends only a cell that uses the name.
func registered(name string, err error, inNotebook bool) string {
	_, file, line, _ := runtime.Caller(2)
	cells[file] = true
	at := fmt.Sprintf("%s:%d", readable(file), line)
	if err == nil {
		declared[name] = at
		return name
	}
	taken := strings.HasSuffix(err.Error(), "choose another")
	if taken {
		err = fmt.Errorf("%w. In a notebook, declare it once, as in: var Mine = nb.Strategy(...)", err)
	}
	if !inNotebook {
		Check(err)
	}
	remove := "NAME, with the variable's name,"
	text, _ := os.ReadFile(readable(file)) // a file that cannot be read has no names
	if lines := strings.Split(string(text), "\n"); line <= len(lines) {
		if m := variable.FindStringSubmatch(lines[line-1]); m != nil {
			remove = m[1]
		}
	}
	if taken { // by what a run would train instead
		name += " (not declared)"
	}
	broken[name] = fmt.Errorf("%w, at %s; correct its cell, or remove it with %%rm %s", err, at, remove)
	say("Note: " + broken[name].Error())
	return name
}

// explained is an error of a setting with a name whose declaration failed as that error, and others as they are.
func explained(err error) error {
	for name, why := range broken {
		if regexp.MustCompile(`["+]` + regexp.QuoteMeta(name) + `(-ce)?["+]`).MatchString(err.Error()) {
			return why
		}
	}
	return err
}

// within says of a missing file of a relative path what that is relative to.
func within(root string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && root != "" && !filepath.IsAbs(root) && strings.Contains(err.Error(), root) {
		return fmt.Errorf("%w; %s is relative to %s", err, root, Must(os.Getwd()))
	}
	return err
}

// label is what a failed run is called, with the line that declares its strategy or objective where the error
// has no line.
func (f failure) label() string {
	text := f.method
	if f.seed > 0 { // else its settings are wrong
		text += fmt.Sprintf(", target %s, seed %d", cmp.Or(f.target, "none"), f.seed)
	}
	if f.run != "" {
		text += ", run " + f.run
	}
	for name, at := range declared {
		if !stackPlace.MatchString(f.err.Error()) && slices.Contains(strings.Split(strings.TrimSuffix(f.method, "-ce"), "+"), name) {
			text += ", declared at " + at
		}
	}
	return text
}

var stackPlace = regexp.MustCompile(`, at .+\.go:\d+$`)

// showFailures shows the runs that failed since the last call, on stderr, where GoNB adds cells to lines.
func showFailures() {
	for _, line := range failureLines(failures[listed:]) {
		say(line)
	}
	listed = len(failures)
}

// say writes a text to stderr as one line. Lines of code are below it: GoNB panics at one behind two colons.
func say(text string) {
	fmt.Fprintln(os.Stderr, codeLine.ReplaceAllString(oneLine([]byte(text)), "\n\t$1"))
}

var codeLine = regexp.MustCompile(`, ((?:declared )?at \S+\.go:\d+)`)

// failureLines has a line for each failure of a method on a target.
func failureLines(list []failure) (lines []string) {
	same := map[string]int{}
	key := func(f failure) string { return f.method + "\n" + f.target + "\n" + f.err.Error() }
	for _, f := range list {
		same[key(f)]++
	}
	for _, f := range list {
		if n := same[key(f)]; n > 0 {
			more := ""
			if n > 1 {
				more = fmt.Sprintf(" (and %d more with other seeds or settings)", n-1)
			}
			lines = append(lines, fmt.Sprintf("Failed: %s%s: %s", f.label(), more, f.err))
			delete(same, key(f))
		}
	}
	return lines
}

// failedNote is a table's note of the runs that failed, "" if none did.
func failedNote() string {
	var methods []string
	for _, f := range failures {
		if !slices.Contains(methods, f.method) {
			methods = append(methods, f.method)
		}
	}
	if methods == nil {
		return ""
	}
	return fmt.Sprintf("%s%d of %s.", failedNotes, len(failures), strings.Join(methods, ", "))
}

const failedNotes = "Runs of this cell that failed, and have no row: "
