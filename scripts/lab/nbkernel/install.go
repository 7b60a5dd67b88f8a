package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goplsVersion is the version of golang.org/x/tools/gopls that completes and documents
// cells. It is no tool of go.mod, whose dependencies it would upgrade.
const goplsVersion = "v0.24.0"

// goplsFile is where the pinned gopls is installed: in the user's cache.
func goplsFile() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "ledg", "gopls@"+goplsVersion, "gopls"), err
}

// gopls returns the path of the pinned gopls, or says that there is none.
func gopls() (string, error) {
	file, err := goplsFile()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("cells are neither completed by Tab nor documented by Shift-Tab: there is no gopls %s; with a network, scripts/notebooks.sh --install gets it", goplsVersion)
	}
	return file, nil
}

// kernel is what Jupyter knows of a kernel, in its file kernel.json.
type kernel struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
}

// starter is the shell's program that starts the kernel of the checkout $0, wherever the
// notebook is. Programs with windows may have no Go in their PATH.
const starter = `PATH="$PATH:$1"
[ -f "$0/scripts/lab/nbkernel/main.go" ] || { echo "nbkernel: ledg is no longer in $0: run scripts/notebooks.sh --install where it is now" >&2; exit 1; }
k=$(cd "$0/scripts/lab" && go tool -n nbkernel) && exec "$k" "$2" "$0"`

// ours tells whether a kernel is one that install has written.
func (k kernel) ours() bool { return len(k.Argv) > 2 && strings.Contains(k.Argv[2], "nbkernel") }

// install makes the kernel of this checkout known to Jupyter, wherever it is started and
// in VS Code, and gets gopls; without a network it says that there is none.
func install() error {
	if err := installKernel(); err != nil {
		return err
	}
	if _, err := gopls(); err == nil {
		return nil
	}
	file, err := goplsFile()
	if err != nil {
		return err
	}
	fmt.Printf("building gopls %s, which completes and documents cells; this takes a minute\n", goplsVersion)
	cmd := exec.Command("go", "install", "golang.org/x/tools/gopls@"+goplsVersion)
	cmd.Dir = os.TempDir() // by its own go.mod
	cmd.Env = append(os.Environ(), "GOBIN="+filepath.Dir(file))
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		_, missing := gopls()
		fmt.Printf("%v (%s)\n", missing, lines[len(lines)-1])
	}
	return nil
}

// installKernel writes the kernel of this checkout to the user's Jupyter. Another's that
// has its name stays.
func installKernel() error {
	root, err := checkout("")
	if err != nil {
		return err
	}
	command, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	k := kernel{
		Argv:        []string{"sh", "-c", starter, root, filepath.Dir(command), "{connection_file}"},
		DisplayName: "Go (ledg)", Language: "go", InterruptMode: "message", Env: map[string]string{},
	}
	for _, name := range []string{"GOEXPERIMENT", "GOTOOLCHAIN", "GOFLAGS"} { // see scripts/need-go.sh
		// A checkout of another version may not have the program of -toolexec; start sets it.
		if v := strings.TrimSpace(strings.ReplaceAll(os.Getenv(name), toolexec(root), "")); v != "" {
			k.Env[name] = v
		}
	}
	dirs, err := kernelDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if old, err := readKernel(dir); err == nil && !old.ours() {
			fmt.Printf("%s is another kernel, and stays: choose the kernel %s for ledg's notebooks\n", dir, k.DisplayName)
			continue
		}
		fmt.Printf("the kernel %s is in %s\n", k.DisplayName, dir)
		return writeKernel(dir, k)
	}
	return fmt.Errorf("%s are other kernels: jupyter kernelspec remove takes one away", strings.Join(dirs, " and "))
}

// uninstall takes away what install has written.
func uninstall() error {
	dirs, err := kernelDirs()
	if err != nil {
		return err
	}
	file, err := goplsFile()
	if err != nil {
		return err
	}
	for i, dir := range append(dirs, filepath.Dir(file)) {
		if old, err := readKernel(dir); i < len(dirs) && (err != nil || !old.ours()) {
			continue
		}
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		fmt.Println("removed", dir)
	}
	return nil
}

// kernelDirs are the folders where Jupyter looks for a kernel of this user, by the names
// that the kernel may have: the notebooks' own, and one if that is another's.
func kernelDirs() ([]string, error) {
	out, err := exec.Command("jupyter", "--data-dir").Output()
	if err != nil {
		return nil, fmt.Errorf("jupyter --data-dir: %w", err)
	}
	data := strings.TrimSpace(string(out))
	return []string{filepath.Join(data, "kernels", "gonb"), filepath.Join(data, "kernels", "ledg")}, nil
}

func readKernel(dir string) (k kernel, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal(b, &k)
}

func writeKernel(dir string, k kernel) error {
	b, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "kernel.json"), b, 0o644)
}
