package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

const slurmStudy = `
name: array
dataset: glyphs
targets: [photo, sketch]
seeds: [1]
set: {data.image_size: 16, network.width: 4}
runs:
  - methods: [uniform-ce, bvsb-ce]
    set: {schedule.epochs: 3}
  - methods: [uniform-ce]
    variants: [{name: long, set: {schedule.epochs: 8}}]
`

// A study as a job array of a real Slurm, with one task cancelled midway and submitted again, ends
// with the records of an uninterrupted study.
func TestSlurmArray(t *testing.T) {
	testall.Need(t, "starts a Slurm of its own")
	s := startSlurm(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "array.yaml")
	fatal.If(t, os.WriteFile(file, []byte(slurmStudy), 0o666))
	whole, broken := filepath.Join(dir, "whole"), filepath.Join(dir, "broken")
	flags := []string{"--backend", "go", "--cache", filepath.Join(dir, "cache")}
	works(t, dir, append([]string{"study", "run", file, "--dir", whole, "--quiet"}, flags...)...)

	script := fatal.Get(filepath.Abs(filepath.Join("..", "slurm_study.sh")))(t)
	submit := func() (job string) {
		args := []string{"--parsable", "--array=0-1", "--cpus-per-task=1", "--mem=0", "--chdir=" + dir, script, file, "--dir", broken}
		return strings.TrimSpace(s.run(t, "sbatch", append(args, flags...)...))
	}
	job := submit()
	waitFor(t, "a task trains", func() bool {
		found, _ := filepath.Glob(filepath.Join(broken, "*", result.RecordsFile))
		return len(found) > 0
	})
	s.run(t, "scancel", job+"_1")
	idle := func() bool { return s.run(t, "squeue", "--noheader") == "" }
	waitFor(t, "the array ends", idle)
	submit()
	waitFor(t, "the second array ends", idle)
	logs, _ := filepath.Glob(filepath.Join(dir, "ledg-study-*.log"))
	if len(logs) != 4 {
		t.Errorf("the tasks' logs are %q", logs)
	}
	for _, name := range logs {
		if data, err := os.ReadFile(name); err != nil || strings.Contains(string(data), ": failed: ") {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
	}

	want := fatal.Get(report.Open(whole))(t)
	got := fatal.Get(report.Open(broken))(t)
	if len(got.Runs) != 6 || !reflect.DeepEqual(got.Runs, want.Runs) {
		t.Fatalf("runs are %v, want %v", got.Runs, want.Runs)
	}
	for _, r := range want.Runs {
		a, b := recorded(t, want, r), recorded(t, got, r)
		if a != b {
			t.Errorf("%s is\n%s\nwant\n%s", r.Dir, b, a)
		}
	}
}

// Features in shards as an array of a real Slurm; one task is killed and submitted
// again, are merged by a job that waits for the array to the bytes of one call.
func TestSlurmShards(t *testing.T) {
	testall.Need(t, "starts a Slurm of its own")
	s := startSlurm(t)
	dir := t.TempDir()
	script := fatal.Get(filepath.Abs(filepath.Join("..", "slurm_parts.sh")))(t)
	embed := func(out string) []string {
		return []string{"embed", "--dataset", "glyphs", "--net", "smallcnn", "--width", "4", "--weights", "none", "--size", "32", "--views", "8",
			"--backend", "go", "--quiet", "--out", filepath.Join(dir, out)}
	}
	out := filepath.Join(dir, "parts.safetensors")
	submit := func() (job string) {
		args := []string{"--parsable", "--array=0-2", "--cpus-per-task=1", "--mem=0", "--chdir=" + dir, script}
		return strings.TrimSpace(s.run(t, "sbatch", append(args, embed(filepath.Base(out))...)...))
	}
	idle := func() bool { return s.run(t, "squeue", "--noheader") == "" }
	job := submit()
	// The task is stopped as soon as it has begun, lest it be done before Slurm kills it.
	waitFor(t, "a task begins", func() bool {
		return exec.Command("pkill", "-STOP", "-f", "--", out+" --shard 1/3$").Run() == nil
	})
	s.run(t, "scancel", "--signal=KILL", "--full", job+"_1")
	waitFor(t, "the array ends", idle)
	if _, stderr, status := call(t, dir, "merge", out); status != 1 || !strings.Contains(stderr, "shard 1/3 is ") {
		t.Errorf("a task was killed, and merge ends with %d: %s", status, stderr)
	}
	job = submit()
	s.run(t, "sbatch", "--cpus-per-task=1", "--mem=0", "--chdir="+dir, "--dependency=afterok:"+job, "--output=merge.log", "--wrap", ledg+" merge "+out)
	works(t, dir, embed("whole.safetensors")...)
	waitFor(t, "the second array and the merge end", idle)
	log, _ := os.ReadFile(filepath.Join(dir, "merge.log"))
	got, err := os.ReadFile(out)
	if err != nil || string(log) != out+": 2,400 images of 3 shards\n" {
		t.Fatalf("%v, merge says %s", err, log)
	}
	if want, err := os.ReadFile(filepath.Join(dir, "whole.safetensors")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the shards make another file than one call: %v", err)
	}
}

// recorded is everything that a finished run recorded, but for its times.
func recorded(t *testing.T, f *report.Folder, r result.PlannedRun) string {
	t.Helper()
	out, err := f.Outcome(r)
	if err != nil || out == nil {
		t.Fatalf("%s is not finished: %v", r.Dir, err)
	}
	data := fatal.Get(out.Result.Untimed())(t)
	text := string(data)
	for _, rec := range out.Records {
		rec.Time = result.Time{}
		text += fmt.Sprintf("%+v\n", rec)
	}
	queries := fatal.Get(os.ReadFile(filepath.Join(f.Path, r.Dir, result.QueriesFile)))(t)
	return text + string(queries)
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("three minutes, and not yet: %s", what)
		}
	}
}

// slurm is a Slurm of one node on this machine.
type slurm struct{ env []string }

// run runs one of Slurm's commands.
func (s slurm) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return string(out)
}

// startSlurm starts munge, the controller and a node, which end with the test. It
// skips the test where they are not installed.
func startSlurm(t *testing.T) slurm {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s: on Debian, apt-get install slurm-wlm munge", name)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("Slurm's daemons want to be root")
	}
	dir := fatal.Get(os.MkdirTemp("", "slurm"))(t) // short, for munge's socket
	t.Cleanup(func() { os.RemoveAll(dir) })
	host := fatal.Get(os.Hostname())(t)
	host, _, _ = strings.Cut(host, ".")
	key := make([]byte, 1024)
	rand.Read(key)
	fatal.If(t, os.WriteFile(filepath.Join(dir, "key"), key, 0o400))
	conf := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[2]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge
CryptoType=crypto/munge
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
StateSaveLocation=%[1]s
SlurmdSpoolDir=%[1]s
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=%[2]s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, dir, host, freePort(t), freePort(t))
	path := filepath.Join(dir, "slurm.conf")
	fatal.If(t, os.WriteFile(path, []byte(conf), 0o666))
	s := slurm{append(os.Environ(), "SLURM_CONF="+path, "LEDG="+ledg)}
	daemon := func(name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Env = s.env
		log := fatal.Get(os.Create(filepath.Join(dir, name+".log")))(t)
		cmd.Stdout, cmd.Stderr = log, log
		fatal.If(t, cmd.Start())
		t.Cleanup(func() {
			if t.Failed() {
				text, _ := os.ReadFile(log.Name())
				t.Logf("%s says\n%s", name, text)
			}
			cmd.Process.Signal(syscall.SIGTERM)
			cmd.Wait()
			log.Close()
		})
	}
	daemon("munged", "--foreground", "--force", "--key-file="+filepath.Join(dir, "key"), "--socket="+filepath.Join(dir, "munge"),
		"--pid-file="+filepath.Join(dir, "munge.pid"), "--log-file="+filepath.Join(dir, "munge.log"), "--seed-file="+filepath.Join(dir, "munge.seed"))
	waitFor(t, "munge listens", func() bool {
		_, err := os.Stat(filepath.Join(dir, "munge"))
		return err == nil
	})
	daemon("slurmctld", "-D")
	daemon("slurmd", "-D")
	waitFor(t, "the node is up", func() bool {
		cmd := exec.Command("sinfo", "--noheader", "--format=%T")
		cmd.Env = s.env
		out, err := cmd.Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	return s
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l := fatal.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
