package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// newcomer is somebody who types the blocks of pages in a folder of their own.
type newcomer struct {
	t   *testing.T
	dir string
	env []string
}

// newNewcomer has a home without settings, where Go finds what it has fetched and built before.
func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	u := &newcomer{t: t, dir: t.TempDir()}
	bin := filepath.Join(u.dir, "with", "bin")
	fatal.If(t, errors.Join(os.MkdirAll(bin, 0o777), os.Symlink(ledg, filepath.Join(bin, "ledg"))))
	u.env = append(os.Environ(), "HOME="+u.dir, "XDG_CACHE_HOME="+filepath.Join(u.dir, "cache"), "XDG_DATA_HOME="+filepath.Join(u.dir, "data"),
		"GOMLX_BACKEND=", "BROWSER=true", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out := fatal.Get(exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output())(t)
	for i, value := range strings.Fields(string(out)) {
		u.env = append(u.env, []string{"GOCACHE=", "GOMODCACHE=", "GOPATH="}[i]+value)
	}
	return u
}

// command is a block, not yet run.
func (u *newcomer) command(ctx context.Context, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir, cmd.Env = u.dir, u.env
	return cmd
}

// run runs a block to its end, and returns what it prints.
func (u *newcomer) run(text string) string {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), runLimit)
	defer cancel()
	out, err := u.command(ctx, text).CombinedOutput()
	if err != nil {
		u.t.Fatalf("%v\n%s\n%s", err, text, out)
	}
	return string(out)
}

// until starts a block, and interrupts it as Ctrl-C does when ready says so of its output.
func (u *newcomer) until(text string, ready func(out string) bool) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), runLimit)
	defer cancel()
	var out shared
	cmd := u.command(ctx, text)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.NewTicker(100 * time.Millisecond); !ready(out.String()); {
		select {
		case <-tick.C:
		case err := <-ended:
			u.t.Fatalf("it ended by itself: %v\n%s\n%s", err, text, out.String())
		}
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		u.t.Fatal(err)
	}
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			u.t.Errorf("%v\n%s\n%s", err, text, out.String())
		}
	case <-time.After(time.Minute):
		u.t.Errorf("a minute after Ctrl-C it still runs:\n%s\n%s", text, out.String())
		cancel()
		<-ended
	}
}

// README's first two blocks and the scripts of notebooks.md, by somebody who has nothing but Go:
// a clone of the repository, the build, the demo with its table, and notebooks.
func TestNewUser(t *testing.T) {
	testall.Need(t, "clones and builds the repository, and runs the demo")
	root := fatal.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	if !exists(filepath.Join(root, ".git")) {
		t.Skip("this is no checkout of git, so that there is nothing to clone")
	}
	u := newNewcomer(t)
	u.env = append(u.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+root+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/ledg-go/ledg")
	u.run(blockOf(t, "README.md", "git clone").text + "ledg --version\nbash -c 'source ~/.bashrc; type __start_ledg'\n")
	u.dir = filepath.Join(u.dir, "ledg")
	demo := u.run(blockOf(t, "README.md", "scripts/demo.sh").text)
	rows := 0
	_, table, _ := strings.Cut(read(t, filepath.Join(root, "README.md")), "| accuracy, %, n = 3 |")
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != 6 || strings.HasPrefix(cells[0], "---") {
			continue
		}
		rows++
		_, row, found := strings.Cut(demo, "\n"+cells[0]+" ")
		row, _, _ = strings.Cut(row, "\n")
		for _, number := range cells[1:5] {
			if !found || !strings.Contains(row, number+" ± ") {
				t.Errorf("the demo prints no row %s with %s:\n%s", cells[0], number, demo)
			}
		}
	}
	if rows != 4 {
		t.Errorf("README shows %d rows of the demo, want 4", rows)
	}
	if _, err := exec.LookPath("jupyter"); err != nil {
		t.Log("notebooks are not opened: there is no jupyter here; scripts/notebooks.sh --install gets it")
		return
	}
	address := regexp.MustCompile(`http://(?:localhost|127\.0\.0\.1):\d+/\S+`)
	u.until(blockOf(t, "notebooks.md", "./scripts/notebooks.sh\n").text, func(out string) bool {
		at := address.FindString(out)
		if at == "" {
			return false
		}
		reply, err := http.Get(at)
		if err != nil {
			return false
		}
		reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	})
	u.run(blockOf(t, "notebooks.md", "--execute").text)
	if out := u.run("git status --porcelain --untracked-files=no"); out != "" {
		t.Errorf("executing notebooks again has changed\n%s", out)
	}
}

// The studies of the paper begin as README and runs.md say, and stop at Ctrl-C. Their tables and
// figures are made from the stored records of the whole study.
func TestStudyOfThePaper(t *testing.T) {
	testall.Need(t, "trains for a minute")
	for _, c := range []struct{ page, study, dir, stored string }{
		{"README.md", "paper-emoji.yaml", "emoji", "paper-emoji"},
		{"runs.md", "table3-glyphs.yaml", "glyphs", "glyphs"},
	} {
		u := newNewcomer(t)
		for _, folder := range []string{"scripts", "datasets"} {
			path, err := filepath.Abs(filepath.Join("..", "..", folder))
			if err == nil {
				err = os.Symlink(path, filepath.Join(u.dir, folder))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		first, rest, _ := strings.Cut(blockOf(t, c.page, c.study).text, "\n")
		records := filepath.Join(u.dir, "runs", c.dir)
		u.until(first, func(string) bool {
			found, _ := filepath.Glob(filepath.Join(records, "*", result.RecordsFile))
			return len(found) > 0
		})
		fatal.If(t, os.RemoveAll(records))
		fatal.If(t, os.CopyFS(records, os.DirFS(filepath.Join(resultsDir, c.stored))))
		if out := u.run(rest); !strings.Contains(out, "CEG (published schedule)") {
			t.Errorf("%s: no row of CEG in\n%s", c.page, out)
		}
		if !exists(filepath.Join(u.dir, "epochs.svg")) {
			t.Errorf("%s: there is no epochs.svg", c.page)
		}
	}
}

// Without a GPU the commands of backends.md say what is missing, before they fetch or compute
// anything. pip only says what it would install, as that is gigabytes.
func TestWithoutGPU(t *testing.T) {
	testall.Need(t, "builds the check of GPUs")
	if _, err := exec.LookPath("nvidia-smi"); err == nil {
		t.Skip("there may be a GPU here: run scripts/gpu_check.sh")
	}
	u := newNewcomer(t)
	root := fatal.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	data := u.dir
	fatal.If(t, os.Mkdir(filepath.Join(data, "PACS"), 0o777))
	u.dir = root
	lines := strings.SplitN(blockOf(t, "backends.md", "gpu_check.sh").text, "\n", 3)
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	if pip := strings.Fields(lines[0]); len(pip) != 3 || pip[0] != "pip" || pip[1] != "install" {
		t.Errorf("the first line is %q", lines[0])
	} else if out, err := u.command(ctx, "python3 -m pip install --dry-run --no-deps "+pip[2]).CombinedOutput(); err != nil {
		t.Logf("pip finds no %s from here: %v\n%s", pip[2], err, out)
	}
	for i, want := range []string{1: "no nvidia-smi on this machine", 2: "xla:cuda: no cuda plugin found"} {
		if want == "" {
			continue
		}
		out, err := u.command(ctx, lines[i]).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q in\n%s", lines[i], err, want, out)
		}
		u.dir = data
	}
}

// The array of clusters.md embeds photos on a real Slurm, and its merge waits for it.
func TestSlurmGuide(t *testing.T) {
	testall.Need(t, "starts a Slurm of its own")
	pretrainedOrSkip(t)
	s := startSlurm(t)
	u := newNewcomer(t)
	u.env = append(s.env, "SBATCH_CPUS_PER_TASK=1", "LEDG="+ledg)
	works(t, u.dir, "data", "example", "try")
	u.dir = filepath.Join(u.dir, "try")
	script, err := filepath.Abs(filepath.Join("..", "slurm_parts.sh"))
	if err == nil {
		err = errors.Join(os.Mkdir(filepath.Join(u.dir, "bin"), 0o777), os.Symlink(ledg, filepath.Join(u.dir, "bin", "ledg")),
			os.Mkdir(filepath.Join(u.dir, "scripts"), 0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
	// This node has two cores: its tasks ask for one, and for no memory.
	small := strings.NewReplacer("--cpus-per-task=4", "--cpus-per-task=1", "--mem=16G", "--mem=0").Replace(read(t, script))
	fatal.If(t, os.WriteFile(filepath.Join(u.dir, "scripts", "slurm_parts.sh"), []byte(small), 0o777))
	u.run(blockOf(t, "clusters.md", "sbatch").text)
	waitFor(t, "the array and its merge end", func() bool { return s.run(t, "squeue", "--noheader") == "" })
	prints(t, "120 images", u.dir, "data", "check", "--dataset", "features", "--root", "photos.safetensors")
}

// The network of features.md is a file of one's own: here one with the inputs and outputs of
// DINOv2 and few random weights.
func TestGuideONNX(t *testing.T) {
	u := newNewcomer(t)
	works(t, u.dir, "data", "example", "try")
	u.dir = filepath.Join(u.dir, "try")
	net := read(t, filepath.Join("testdata", "dinov2.onnx"))
	fatal.If(t, os.WriteFile(filepath.Join(u.dir, "dinov2.onnx"), []byte(net), 0o666))
	if out := u.run(blockOf(t, "features.md", "dinov2.onnx").text); !strings.Contains(out, "photos-dinov2.safetensors: 120 images") {
		t.Errorf("it prints\n%s", out)
	}
}

// The installation of features.md fetches ONNX Runtime, which then computes.
func TestGuideInstall(t *testing.T) {
	testall.Need(t, "fetches ONNX Runtime, 27 MB")
	if os.Getenv("LEDG_TEST_ORT") == "" {
		t.Skip("LEDG_TEST_ORT names no library: it could not be fetched, or is off")
	}
	u := newNewcomer(t)
	if out := u.run(blockOf(t, "features.md", "backend install onnxruntime").text); !strings.Contains(out, " works: use it ") {
		t.Errorf("it prints\n%s", out)
	}
}
