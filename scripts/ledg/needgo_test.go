package main

import (
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// needGo sources scripts/need-go.sh, prints which Go then runs, and returns what was
// printed and whether the script went on. env is added to an environment with
// nothing but a home folder in it.
func needGo(t *testing.T, env ...string) (stdout, stderr string, ok bool) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	script := fatal.Get(filepath.Abs(filepath.Join("..", "need-go.sh")))(t)
	c := exec.Command(bash, "-euc", `source "$0"; go env GOVERSION`, script)
	c.Env = append([]string{"HOME=" + t.TempDir()}, env...)
	var out, message strings.Builder
	c.Stdout, c.Stderr = &out, &message
	err = c.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return out.String(), message.String(), err == nil
}

// olderGo returns the folder of a go command older than the one that go.mod wants,
// and its version: of those in PATH, and of the usual place.
func olderGo(t *testing.T) (dir, v string) {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/local/go/bin") {
		c := exec.Command(filepath.Join(dir, "go"), "env", "GOVERSION")
		c.Dir, c.Env = t.TempDir(), []string{"GOTOOLCHAIN=local", "HOME=" + t.TempDir()}
		out, err := c.Output()
		if v := strings.TrimSpace(string(out)); err == nil && version.Compare(v, "go"+wantedGo(t)) < 0 {
			return dir, v
		}
	}
	t.Skip("there is no older Go here that would have to fetch a newer one")
	return "", ""
}

// wantedGo is the version in go.mod.
func wantedGo(t *testing.T) string {
	t.Helper()
	mod := fatal.Get(os.ReadFile(filepath.Join("..", "..", "go.mod")))(t)
	for line := range strings.Lines(string(mod)) {
		if v, ok := strings.CutPrefix(line, "go "); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatal("go.mod names no version of Go")
	return ""
}

const tools = "/usr/bin:/bin"

func TestNeedGoWithoutGo(t *testing.T) {
	if _, err := os.Stat("/usr/bin/go"); err == nil {
		t.Skip("Go is among the system's programs")
	}
	_, stderr, ok := needGo(t, "PATH="+tools)
	if ok || !strings.Contains(stderr, "there is no go in PATH") || !strings.Contains(stderr, wantedGo(t)) {
		t.Errorf("without a go: went on %v, said %q", ok, stderr)
	}
}

// An older Go that cannot reach a proxy says which version it lacks and why, also
// where the environment asks for the local toolchain.
func TestNeedGoWithoutNetwork(t *testing.T) {
	dir, have := olderGo(t)
	for _, toolchain := range []string{"local", "auto"} {
		_, stderr, ok := needGo(t, "PATH="+dir+":"+tools, "GOTOOLCHAIN="+toolchain, "GOPROXY=off", "GOMODCACHE="+t.TempDir())
		for _, want := range []string{"Go " + wantedGo(t), "this is " + have, "cannot be fetched", "GOPROXY"} {
			if ok || !strings.Contains(stderr, want) {
				t.Errorf("GOTOOLCHAIN=%s, no network: went on %v, said %q, want it to say %q", toolchain, ok, stderr, want)
			}
		}
	}
}

// An older Go fetches the version that go.mod wants from a proxy and says so in one
// line; where it is there already, nothing is said and no network needed. The proxy
// is this machine's module cache, which has the toolchain that runs this test where
// Go fetched that itself.
func TestNeedGoFetches(t *testing.T) {
	testall.Need(t, "unpacks a toolchain")
	dir, have := olderGo(t)
	cache := fatal.Get(exec.Command("go", "env", "GOMODCACHE").Output())(t)
	proxy := filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")
	zip := fmt.Sprintf("v0.0.1-go%s.%s-%s.zip", wantedGo(t), runtime.GOOS, runtime.GOARCH)
	if _, err := os.Stat(filepath.Join(proxy, "golang.org", "toolchain", "@v", zip)); err != nil {
		t.Skip("the module cache does not have the toolchain that go.mod wants")
	}
	if stdout, stderr, ok := needGo(t, "PATH="+dir+":"+tools, "GOTOOLCHAIN=local", "GOPROXY=off",
		"GOMODCACHE="+strings.TrimSpace(string(cache))); !ok || stderr != "" || !strings.HasPrefix(stdout, "go"+wantedGo(t)) {
		t.Errorf("a toolchain that is there: went on %v with %q, said %q, want nothing", ok, stdout, stderr)
	}
	stdout, stderr, ok := needGo(t, "PATH="+dir+":"+tools, "GOTOOLCHAIN=local", "GOPROXY=file://"+proxy,
		"GOSUMDB=off", "GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw")
	if !ok || !strings.HasPrefix(stdout, "go"+wantedGo(t)) {
		t.Fatalf("went on %v with %q, want %s: %s", ok, stdout, wantedGo(t), stderr)
	}
	want := fmt.Sprintf("this is %s: fetching Go %s from the module proxy", have, wantedGo(t))
	if !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("said %q, want the one line %q", stderr, want)
	}
}
