package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// everyCommand calls f with each command of the program that is not hidden.
func everyCommand(f func(cmd *cobra.Command)) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		f(cmd)
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
}

// help calls the program for a help text.
func help(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := call(t, t.TempDir(), args...)
	if status != 0 || stderr != "" {
		t.Fatalf("%v: status %d, stderr %q", args, status, stderr)
	}
	return stdout
}

func TestRootHelpIsGrouped(t *testing.T) {
	got := help(t, "--help")
	at := 0
	for _, line := range []string{
		"Start:", "  data ", "  train ", "  label ", "  predict ", "  report ",
		"Research:", "  study ", "  compare ", "  table ", "  figure ", "  methods ", "  settings ",
		"Your own model:", "  embed ", "  query ", "  probe ",
		"Deploy:", "  export ", "  calibrate ", "  extend ", "  site ",
		"Set-up:", "  backend ", "  merge ", "  version ",
	} {
		i := strings.Index(got[at:], "\n"+line)
		if i < 0 {
			t.Fatalf("no %q after its predecessor in\n%s", line, got)
		}
		at += i + len(line)
	}
}

// The help of ledg train fits a screen of 80 columns or more; --help-all has every flag.
func TestTrainHelpFitsAScreen(t *testing.T) {
	root := newRootCommand()
	train, _ := fatal.Get2(root.Find([]string{"train"}))(t)
	shown := func(text string) int { return len(regexp.MustCompile(`(?m)^ +(-h, )?--[a-z]`).FindAllString(text, -1)) }
	short := help(t, "train", "--help")
	if n := strings.Count(short, "\n"); n < 24 || n > 40 {
		t.Errorf("%d lines, want 24 to 40:\n%s", n, short)
	}
	if n := shown(short); n < 10 || n > 15 {
		t.Errorf("%d flags, want about a dozen:\n%s", n, short)
	}
	all := help(t, "train", "--help-all")
	train.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !strings.Contains(all, " --"+f.Name+" ") {
			t.Errorf("--help-all has no --%s", f.Name)
		}
	})
}

// The flags that a help text groups exist.
func TestFlagGroups(t *testing.T) {
	everyCommand(func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		for line := range strings.Lines(cmd.Annotations[flagGroups]) {
			_, names, ok := strings.Cut(line, ":")
			if !ok {
				t.Errorf("%s: %q has no title", cmd.CommandPath(), line)
			}
			for name := range strings.FieldsSeq(names) {
				if cmd.Flags().Lookup(name) == nil {
					t.Errorf("%s has no --%s", cmd.CommandPath(), name)
				}
			}
		}
	})
}

// A flag's help has at most twelve words before its default.
func TestFlagHelpIsShort(t *testing.T) {
	behind := regexp.MustCompile(` \((default|required)[^()]*\)$`)
	everyCommand(func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			text := behind.ReplaceAllString(f.Usage, "")
			if n := len(strings.Fields(text)); n > maxHelp || text == "" {
				t.Errorf("%s --%s: %d words: %s", cmd.CommandPath(), f.Name, n, f.Usage)
			}
		})
		if twice := regexp.MustCompile(`.*\(default[^()]*\) \(default.*`).FindString(cmd.LocalFlags().FlagUsages()); twice != "" {
			t.Errorf("%s: two defaults: %s", cmd.CommandPath(), twice)
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") != !cmd.HasParent() {
			t.Errorf("%s: short help %q", cmd.CommandPath(), cmd.Short)
		}
	})
}

// A required flag says so.
func TestRequiredFlagsSaySo(t *testing.T) {
	everyCommand(func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			required := len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0
			if required && !strings.HasSuffix(f.Usage, "(required)") {
				t.Errorf("%s --%s is required and its help does not say so: %s", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
	})
}

func TestMistypedNames(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"trian"}, `unknown command "trian" for "ledg"; did you mean train?`},
		{[]string{"infer"}, "did you mean predict?"},
		{[]string{"study", "rum"}, `unknown command "rum" for "ledg study"; did you mean run?`},
		{[]string{"train", "--budgte", "5%"}, "unknown flag: --budgte; did you mean --budget?"},
		{[]string{"predict", "--image", "x"}, "unknown flag: --image; did you mean --images?"},
		{[]string{"train", "--zzzzzz"}, "unknown flag: --zzzzzz (see ledg train --help)"},
	} {
		refused(t, tt.want, 2, t.TempDir(), tt.args...)
	}
}

// Words that people try lead to the command that is meant.
func TestOtherNames(t *testing.T) {
	for name, want := range map[string]string{"annotate": "ledg label", "select": "ledg query", "plot": "ledg figure", "evaluate": "ledg eval"} {
		if got := help(t, name, "--help"); !strings.Contains(got, "Usage:\n  "+want+" ") {
			t.Errorf("%s: help is\n%s", name, got)
		}
	}
	stdout, stderr, status := call(t, filepath.Join("testdata", "runs"), "evaluate", "ceg-photo-1")
	if status != 0 || stderr != "" {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	golden(t, "eval.txt", stdout)
}

func TestVersionFlag(t *testing.T) {
	if got := help(t, "--version"); !strings.HasPrefix(got, "ledg ") || strings.Count(got, "\n") != 1 {
		t.Errorf("--version prints %q", got)
	}
}

// The shell completes values of flags.
func TestCompletion(t *testing.T) {
	root := t.TempDir()
	for _, site := range []string{"north", "south"} {
		fatal.If(t, os.Mkdir(filepath.Join(root, site), 0o777))
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"train", "--preset", ""}, "paper authors ledg pooled"},
		{[]string{"train", "--initial", ""}, "uniform coreset kmeans typiclust probcover maxherding names"},
		{[]string{"train", "--dataset", ""}, strings.Join(datasets.Names(), " ")},
		{[]string{"train", "--target", ""}, "none cartoon photo print sketch"},
		{[]string{"train", "--dataset", "pacs", "--target", ""}, "none art_painting cartoon photo sketch"},
		{[]string{"train", "--dataset", "folder", "--root", root, "--target", ""}, "none north south"},
		{[]string{"train", "--timing", ""}, "published early once"},
		{[]string{"table", "--dir", "x", ""}, strings.Join(append(report.TableNames(), "findings"), " ")},
		{[]string{"settings", "--preset", ""}, "paper authors ledg pooled"},
	} {
		var got []string
		for line := range strings.Lines(help2(t, append([]string{"__complete"}, tt.args...)...)) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, ":") {
				got = append(got, line)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v: %v, want %s", tt.args, got, tt.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := help(t, "completion", shell); !strings.Contains(got, "ledg") || len(got) < 1000 {
			t.Errorf("%s: %s", shell, got)
		}
	}
}

// help2 is help for a command that writes to stderr, too.
func help2(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := call(t, t.TempDir(), args...)
	if status != 0 {
		t.Fatalf("%v: status %d, stderr %q", args, status, stderr)
	}
	return stdout
}

// The first line says which preset a run has that names none, and which is recommended.
func TestPresetIsNamed(t *testing.T) {
	for flags, want := range map[string]string{
		"":                 "preset pooled, as no flag names one; see ledg settings preset",
		"--method ceg":     "preset authors, as no flag names one but for the method; recommended: --preset pooled (see ledg settings preset)",
		"--quiet":          "",
		"--preset authors": "",
	} {
		args := tiny(filepath.Join(t.TempDir(), "run"), "--epochs", "1", "--config")
		_, stderr, status := call(t, t.TempDir(), append(args[:len(args)-1], strings.Fields(flags)...)...)
		if first, _, _ := strings.Cut(stderr, "\n"); status != 0 || want != "" && first != want || want == "" && strings.Contains(stderr, "no flag names") {
			t.Errorf("%s: status %d, stderr %q", flags, status, stderr)
		}
	}
}

// The examples in help texts name commands and flags that exist, by their new names.
func TestExamples(t *testing.T) {
	root := newRootCommand()
	everyCommand(func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example + "\n" + cmd.Long) {
			for _, text := range regexp.MustCompile(`ledg [a-z].*`).FindAllString(strings.TrimSpace(line), -1) {
				if !strings.Contains(cmd.Example, text) && !strings.HasPrefix(line, "  ledg ") {
					continue // in a sentence
				}
				text, _, _ = strings.Cut(text, " #")
				if fault := commandFault(root, text); fault != "" {
					t.Errorf("%s: %s", cmd.CommandPath(), fault)
				}
			}
		}
	})
}

// The guides that help texts link to exist.
func TestGuides(t *testing.T) {
	dir := filepath.Join("..", "..", "notebooks", "guides")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("there are no guides yet")
	}
	everyCommand(func(cmd *cobra.Command) {
		if _, err := os.Stat(filepath.Join(dir, cmd.Annotations[guide])); err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
	})
}
