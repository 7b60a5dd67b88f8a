package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// probeEnv is the environment variable that makes a copy of this program try one plugin, print a finding and exit. Its
// value is a launch in JSON.
const probeEnv = "LEDG_ENGINE_PROBE"

// verboseEnv is the environment variable that lets everything be seen that a plugin says on stderr while it is tried.
const verboseEnv = "LEDG_PLUGIN_STDERR"

// probeMark starts the line on which the copy prints its finding.
const probeMark = "ledg engine probe: "

// probeTimeout ends a probe that hangs. Starting CUDA takes seconds, on a machine with many GPUs or with its libraries
// on a cold network disk tens of them or more.
var probeTimeout = 5 * time.Minute

// finding is what a probe learned of a plugin that works, or why it does not.
type finding struct {
	API     string   `json:"api"`
	SHA256  string   `json:"sha256"` // of the plugin
	Devices []Device `json:"devices"`
	Err     string   `json:"err,omitempty"`
}

// Device is a device of a backend.
type Device struct {
	// Name is the plugin's or driver's name: "NVIDIA H200".
	Name string `json:"name"`
	// MemoryBytes is its memory, 0 if unknown.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
}

// deviceNames returns the devices' names.
func (f finding) deviceNames() []string {
	names := make([]string, len(f.Devices))
	for i, d := range f.Devices {
		names[i] = d.Name
	}
	return names
}

// onCPU reports whether the devices are CPUs. PJRT's client names a device after its platform and number, "cpu:0" or
// "CpuDevice(id=0)", whatever the plugin's file is called.
func (f finding) onCPU() bool {
	return len(f.Devices) > 0 && strings.Contains(strings.ToLower(f.Devices[0].Name), "cpu")
}

// probed remembers the findings of this process by launch.
var probed sync.Map

// probe starts the plugin in a copy of this program and lets it compute a small convolution. A plugin is C++ that ends
// its process when it dislikes a driver or a library, so trying it anywhere else would risk the run.
func probe(l launch) (finding, error) {
	task, err := json.Marshal(l)
	if err != nil {
		return finding{}, err
	}
	if f, ok := probed.Load(string(task)); ok {
		return f.(finding), nil
	}
	if err := unloadable(l.Plugin.Path); err != nil {
		return finding{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return finding{}, fmt.Errorf("cannot start a copy of this program to try the plugin: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), probeEnv+"="+string(task))
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if os.Getenv(verboseEnv) != "" {
		cmd.Stderr = io.MultiWriter(&stderr, os.Stderr)
	}
	runErr := cmd.Run()
	for line := range strings.Lines(stdout.String()) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), probeMark)
		if !ok {
			continue
		}
		var f finding
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			return finding{}, fmt.Errorf("the plugin's trial run printed %q: %w", text, err)
		}
		if f.Err != "" {
			return finding{}, fmt.Errorf("%s", f.Err)
		}
		probed.Store(string(task), f)
		return f, nil
	}
	if ctx.Err() != nil {
		return finding{}, fmt.Errorf("the plugin did not compute anything within %v", probeTimeout)
	}
	reason := complaint(stderr.String())
	if reason == "" && runErr != nil {
		reason = runErr.Error()
	}
	return finding{}, fmt.Errorf("the plugin crashes: %s", reason)
}

// fatal is how the log line begins with which XLA ends its process.
var fatal = regexp.MustCompile(`^F[0-9]{4} `)

// complaint returns the line with the reason why a process died: XLA's fatal one, or else the
// first with text.
func complaint(stderr string) string {
	first := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		switch {
		case fatal.MatchString(line):
			return line
		case first == "" && !strings.Contains(line, "before absl::InitializeLog()"):
			first = line
		}
	}
	return first
}
