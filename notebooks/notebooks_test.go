// Package notebooks tests the notebooks: their committed content, and that they run from start to
// end with the real kernel under the real Jupyter.
package notebooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// notebook is the part of Jupyter's format (version 4) that is looked at.
type notebook struct {
	Cells    []cell `json:"cells"`
	Metadata struct {
		Kernelspec struct {
			Name string `json:"name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
	Format int `json:"nbformat"`
}

type cell struct {
	Type     string         `json:"cell_type"`
	Metadata map[string]any `json:"metadata"`
	Source   []string       `json:"source"`
	Count    *int           `json:"execution_count"`
	Outputs  []output       `json:"outputs"`
}

type output struct {
	Type  string         `json:"output_type"`
	Name  string         `json:"name"` // of a stream
	Text  []string       `json:"text"`
	Data  map[string]any `json:"data"`
	Error string         `json:"evalue"`
}

// problems lists the cells in which something went wrong: those with an error, and
// those that write to stderr, since a shell command that fails does only that.
func (nb *notebook) problems() []string {
	var list []string
	for i, c := range nb.Cells {
		bad := slices.ContainsFunc(c.Outputs, func(o output) bool { return o.Type == "error" || o.Name == "stderr" })
		if bad {
			list = append(list, fmt.Sprintf("cell %d: %s", i, c.text()))
		}
	}
	return list
}

// text is everything that a cell has put out, as text.
func (c cell) text() string {
	var b strings.Builder
	for _, o := range c.Outputs {
		b.WriteString(strings.Join(o.Text, "") + o.Error + "\n")
		if page, ok := o.Data["text/html"]; ok { // the compiler's errors come as a page
			b.WriteString(tag.ReplaceAllString(fmt.Sprint(page), ""))
		}
	}
	return b.String()
}

// shown is everything that a cell shows but pictures.
func (c cell) shown() string {
	var b strings.Builder
	for _, o := range c.Outputs {
		b.WriteString(strings.Join(o.Text, "") + "\n")
		for kind, v := range o.Data {
			if !strings.HasPrefix(kind, "image/") {
				b.WriteString(joined(v) + "\n")
			}
		}
	}
	return b.String()
}

var tag = regexp.MustCompile(`<[^>]*>`)

func parse(t *testing.T, data []byte) *notebook {
	t.Helper()
	nb := new(notebook)
	fatal.If(t, json.Unmarshal(data, nb))
	return nb
}

// inPython are the notebooks with a Python kernel.
var inPython = []string{"13_python.ipynb", "14_camera_traps.ipynb"}

// files are the notebooks.
func files(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("*.ipynb")
	if err != nil || len(list) == 0 {
		t.Fatalf("%d notebooks, %v", len(list), err)
	}
	return list
}

const (
	// maxLines is the most lines of code in a cell, imports apart: longer code belongs into a
	// package.
	maxLines = 12
	// maxBytes is the largest notebook, with maps that hold their pictures: they stay in the
	// history for good.
	maxBytes = 2 << 20
)

// machinePath matches a path that exists on one machine alone.
var machinePath = regexp.MustCompile(`(/home/|/root/|/tmp/|/usr/|/opt/|/srv/|/mnt/|/Users/|/var/|[A-Z]:\\)[^\s"]*`)

// Notebooks are committed as they were executed once, from top to bottom, and
// without a problem.
func TestCommitted(t *testing.T) {
	for _, file := range files(t) {
		t.Run(file, func(t *testing.T) {
			data := fatal.Get(os.ReadFile(file))(t)
			if len(data) > maxBytes {
				t.Errorf("%d bytes, want at most %d", len(data), maxBytes)
			}
			nb := parse(t, data)
			kernel := "gonb"
			if slices.Contains(inPython, file) {
				kernel = "python3"
			}
			if nb.Format != 4 || nb.Metadata.Kernelspec.Name != kernel {
				t.Errorf("format %d, kernel %q; want 4, %s", nb.Format, nb.Metadata.Kernelspec.Name, kernel)
			}
			for _, p := range nb.problems() {
				t.Error(p)
			}
			for i, c := range nb.Cells {
				shown := strings.Join(c.Source, "") + c.shown()
				if p := machinePath.FindString(shown); p != "" {
					t.Errorf("cell %d holds the path %s, which only one machine has", i, p)
				}
				if strings.Contains(shown, "Not drawn") {
					t.Errorf("cell %d shows that something was not drawn", i)
				}
			}
			executed, shown := 0, 0
			for i, c := range nb.Cells {
				if c.Type != "code" {
					continue
				}
				executed++
				if source := strings.Join(c.Source, ""); strings.Contains(source, "nb.Annotate(") && strings.Contains("\n"+c.shown(), "\n0 labels") {
					t.Errorf("cell %d found no image to label: its run is of an earlier execution; delete it in runs/notebooks", i)
				}
				if c.Count == nil || *c.Count != executed {
					t.Errorf("cell %d was not executed as number %d; run scripts/notebooks.sh --execute", i, executed)
				}
				if c.Metadata["execution"] != nil {
					t.Errorf("cell %d holds the times of its execution", i)
				}
				if n := lines(c); n > maxLines && !strings.HasPrefix(c.Source[0], "import (") {
					t.Errorf("cell %d has %d lines of code, want at most %d", i, n, maxLines)
				}
				shown += len(c.Outputs)
			}
			if shown == 0 {
				t.Error("no cell shows anything")
			}
		})
	}
}

// lines counts a cell's lines of code.
func lines(c cell) int {
	n := 0
	for _, line := range c.Source {
		if s := strings.TrimSpace(line); s != "" && s != "%%" {
			n++
		}
	}
	return n
}

// Every notebook that TestFresh does not execute runs from start to end, in quick mode. Notebooks share runs by
// name, the first three a single run and the others those of studies: two chains,
// side by side.
func TestExecute(t *testing.T) {
	needJupyter(t)
	list := slices.DeleteFunc(files(t), func(file string) bool { return slices.Contains(inPython, file) })
	for name, chain := range map[string][]string{"run": list[:3], "studies": list[3:]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := t.TempDir()
			for _, file := range chain {
				if slices.Contains(fromRecords, strings.TrimSuffix(file, ".ipynb")) {
					continue // TestFresh executes it as it is
				}
				t.Run(file, func(t *testing.T) {
					data := fatal.Get(os.ReadFile(file))(t)
					now := execute(t, data, runs)
					for _, p := range now.problems() {
						t.Error(p)
					}
					compareAlways(t, strings.TrimSuffix(file, ".ipynb"), now, parse(t, data))
				})
			}
		})
	}
}

// Whatever can go wrong in a cell is found, and found in that cell alone.
func TestExecuteFindsProblems(t *testing.T) {
	needJupyter(t)
	sources := []string{
		"import \"fmt\"",
		"%%\nfmt.Println(\"fine\")",
		"%%\npanic(\"at sea\")",
		"!ls no-such-file",
		"%%\nfmt.Println(undefined)",
		"%%\nnb.Must(NewConfig(\"glyphs\", \"photo\", \"no such method\", config.Authors))",
		"%%\nfmt.Println(\"fine again\")",
	}
	wants := []string{"cell 2: .*at sea", "cell 3: .*no-such-file", "cell 4: .*undefined", "cell 5: .*no such method"}
	var cells []map[string]any
	for _, s := range sources {
		cells = append(cells, map[string]any{"cell_type": "code", "metadata": map[string]any{}, "execution_count": nil, "outputs": []any{}, "source": s})
	}
	data := fatal.Get(json.Marshal(map[string]any{
		"cells": cells, "nbformat": 4, "nbformat_minor": 4,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "gonb", "language": "go", "display_name": "Go"}},
	}))(t)
	got := execute(t, data, t.TempDir()).problems()
	if len(got) != len(wants) {
		t.Fatalf("problems %q, want %d", got, len(wants))
	}
	for i, want := range wants {
		if !regexp.MustCompile("(?s)" + want).MatchString(got[i]) {
			t.Errorf("problem %d is %s\nwant %s", i, got[i], want)
		}
	}
}

func needJupyter(t *testing.T) {
	t.Helper()
	testall.Need(t, "Jupyter executes notebooks for minutes")
	if err := exec.Command("jupyter", "nbconvert", "--version").Run(); err != nil {
		t.Skip("notebooks are not executed: there is no jupyter nbconvert here; scripts/notebooks.sh --install gets it")
	}
	fatal.If(t, buildKernel())
}

// buildKernel builds the kernel and what its cells link, once. Built by the first
// notebook instead, on a machine that has not done so before, it would take longer
// than Jupyter waits for a kernel.
var buildKernel = sync.OnceValue(func() error {
	for _, args := range [][]string{{"tool", "-C", "../scripts/lab", "-n", "gonb"}, {"tool", "-C", "../scripts/lab", "-n", "goimports"}, {"mod", "graph"}, {"build", "./..."}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
})

// execute executes a notebook in quick mode, every cell whatever happens in the others.
func execute(t *testing.T, data []byte, runs string) *notebook {
	t.Helper()
	return executeWith(t, data, "LEDG_QUICK=1", "LEDG_RUNS="+runs)
}

// executeWith executes a notebook with variables of the environment.
func executeWith(t *testing.T, data []byte, environment ...string) *notebook {
	t.Helper()
	kernels := fatal.Get(filepath.Abs("jupyter"))(t)
	cmd := exec.CommandContext(t.Context(), "jupyter", "nbconvert", "--log-level=ERROR", "--to=notebook", "--execute", "--allow-errors",
		"--ExecutePreprocessor.timeout=300", "--ExecutePreprocessor.startup_timeout=300", "--stdin", "--stdout")
	cmd.Env = append(append(os.Environ(), "JUPYTER_PATH="+kernels, "LEDG_GOPLS="), environment...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("jupyter nbconvert: %v\n%s", err, stderr.Bytes())
	}
	return parse(t, stdout.Bytes())
}
