package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// request is one to a kernel, of testdata/session.py.
type request struct {
	Kind  string  `json:"kind"` // execute, complete or inspect, with the cursor at the end
	Code  string  `json:"code"`
	After float64 `json:"after"` // the kernel's start, in seconds
}

type reply struct {
	Reply struct {
		Status  string         `json:"status"`
		Matches []string       `json:"matches"`
		Data    map[string]any `json:"data"`
	} `json:"reply"`
	Shown   []map[string]any `json:"shown"`
	Seconds float64          `json:"seconds"`
}

// session sends requests to a kernel in a folder.
func session(t *testing.T, kernel, dir string, list []request) []reply {
	t.Helper()
	var in bytes.Buffer
	for _, r := range list {
		fatal.If(t, json.NewEncoder(&in).Encode(r))
	}
	script := fatal.Get(filepath.Abs(filepath.Join("testdata", "session.py")))(t)
	cmd := exec.CommandContext(t.Context(), python(t), script, kernel, dir)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	var replies []reply
	for line := range bytes.Lines(out) {
		var a reply
		fatal.If(t, json.Unmarshal(line, &a))
		replies = append(replies, a)
	}
	if len(replies) != len(list) {
		t.Fatalf("%d answers to %d requests: %v", len(replies), len(list), err)
	}
	return replies
}

// python is the interpreter that Jupyter runs in.
func python(t *testing.T) string {
	t.Helper()
	command, err := exec.LookPath("jupyter")
	if err != nil {
		t.Skip("there is no jupyter here; scripts/notebooks.sh --install gets it")
	}
	f := fatal.Get(os.Open(command))(t)
	defer f.Close()
	first, _ := bufio.NewReader(f).ReadString('\n')
	program, ok := strings.CutPrefix(strings.TrimSpace(first), "#!")
	if !ok || exec.Command(program, "-c", "import jupyter_client").Run() != nil {
		t.Skip("the jupyter here is none of a Python with jupyter_client")
	}
	return program
}

// A notebook in any folder compiles with the kernel that install has written, and where
// gopls is installed, its cells are completed and documented.
func TestElsewhere(t *testing.T) {
	testall.Need(t, "Jupyter starts kernels")
	python(t)
	t.Setenv("JUPYTER_DATA_DIR", t.TempDir())
	t.Setenv("LEDG_RUNS", "")
	install(t)
	const imports = "import \"github.com/ledg-go/ledg/notebooks/nb\"\n"
	list := []request{
		{Kind: "execute", Code: imports + "%%\nnb.Markdown(\"runs are in %s, and of the paper there are %d\", nb.Dir(\"mine\"), len(nb.PaperRecords(\"announced/paper\").Runs))"},
		{Kind: "complete", Code: "%%\nnb.Tr", After: 20},
		{Kind: "inspect", Code: "%%\nnb.Train"},
		{Kind: "complete", Code: "%%\nr := nb.Result(\"a\")\nr."}, // which cannot be parsed
		{Kind: "complete", Code: imports + "%%\nnb.Swe"},
	}
	server := strings.TrimSpace(string(fatal.Get(exec.Command("./kernel.sh", "--gopls").Output())(t)))
	_, missing := os.Stat(server)
	if missing != nil {
		list = list[:1]
	}
	dir := t.TempDir()
	replies := session(t, "gonb", dir, list)
	shown, _ := json.Marshal(replies[0].Shown)
	if want := "runs are in " + filepath.Join(dir, "runs", "mine") + ", and of the paper there are "; replies[0].Reply.Status != "ok" || !strings.Contains(string(shown), want) {
		t.Fatalf("the cell shows %s, want %s", shown, want)
	}
	if missing != nil {
		t.Skip(missing)
	}
	for i, want := range map[int]string{1: "Train", 3: "Accuracy", 4: "Sweep"} {
		if got := replies[i].Reply.Matches; !slices.Contains(got, want) {
			t.Errorf("%q is completed by %q, want %s among them", list[i].Code, got, want)
		}
	}
	for _, match := range replies[1].Reply.Matches {
		if !strings.HasPrefix(match, "Tr") {
			t.Errorf("%q is completed by %q, which does not begin so", list[1].Code, match)
		}
	}
	if doc, _ := replies[2].Reply.Data["text/plain"].(string); !strings.Contains(doc, "Train trains a run in its own folder") {
		t.Errorf("nb.Train is documented by %q", replies[2].Reply.Data)
	}
	t.Logf("the first cell took %.1f s, the first completion %.1f s, documentation %.1f s", replies[0].Seconds, replies[1].Seconds, replies[2].Seconds)
}

// install runs install.py.
func install(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("python3", append([]string{"install.py"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("install.py %s: %v\n%s", args, err, out)
	}
}

// toolexec is the flag that has the go command start compilers and linkers by scripts/toolexec.sh.
func toolexec(root string) string {
	return `'-toolexec="` + filepath.Join(root, "scripts", "toolexec.sh") + `"'`
}

// A kernel of another's stays, and one of ours is replaced and taken away.
func TestInstall(t *testing.T) {
	python(t)
	data := t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	root := fatal.Get(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	const flags = "-gcflags=all=-dwarf=false"
	t.Setenv("GOFLAGS", flags+" "+toolexec(root))
	file := func(name string) string { return filepath.Join(data, "kernels", name, "kernel.json") }
	const another = `{"argv": ["gonb", "--kernel", "{connection_file}"]}`
	fatal.If(t, os.MkdirAll(filepath.Dir(file("gonb")), 0o777))
	fatal.If(t, os.WriteFile(file("gonb"), []byte(another), 0o666))
	for range 2 {
		install(t)
	}
	var k struct {
		Argv []string
		Env  map[string]string
	}
	fatal.If(t, json.Unmarshal(fatal.Get(os.ReadFile(file("ledg")))(t), &k))
	if len(k.Argv) != 6 || k.Argv[3] != root || k.Env["GOFLAGS"] != flags {
		t.Errorf("the kernel is %+v, want one of %s with the flags %q: another version may not have the program of -toolexec", k, root, flags)
	}
	install(t, "--uninstall")
	if text := fatal.Get(os.ReadFile(file("gonb")))(t); string(text) != another {
		t.Errorf("another's kernel became %s", text)
	}
	if _, err := os.Stat(file("ledg")); err == nil {
		t.Error("the kernel is still there")
	}
}
