package engine

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Plugin is a PJRT plugin file found on this machine: XLA's compiler and runtime for one kind of
// device. It may not work; see [List].
type Plugin struct {
	// Name is derived from the file or folder: "cuda", "cuda13", "cpu_v0.114.0".
	Name string `json:"name"`
	// Path is the absolute path of the file.
	Path string `json:"path"`
	// Source is the installation that it belongs to: "JAX 0.11.2 in
	// /opt/venv/lib/python3.12/site-packages".
	Source string `json:"source"`
	// NVIDIA is the folder of NVIDIA's libraries that were installed with the plugin, or "".
	NVIDIA string `json:"nvidia,omitempty"`
}

// Family returns the kind of device in the plugin's name, without versions: "cuda" for "cuda13",
// "cpu" for "cpu_v0.114.0".
func (p Plugin) Family() string {
	family, _, _ := strings.Cut(p.Name, "_v")
	family = strings.TrimRight(family, "0123456789.")
	if family == "gpu" {
		return "cuda"
	}
	return family
}

// is reports whether name is the plugin's name, family or path.
func (p Plugin) is(name string) bool {
	return name == p.Name || name == p.Family() || name == p.Path
}

// pluginFiles are the file names that GoMLX looks for in a plugin folder; the group is the plugin's name.
var pluginFiles = []*regexp.Regexp{
	regexp.MustCompile(`^pjrt_c_api_(.+)_plugin\.so$`),
	regexp.MustCompile(`^pjrt[-_]plugin[-_](.+)\.so$`),
}

// jaxFolder is the package folder of a plugin in a JAX installation, jax_plugins/xla_cuda13; the group is the name.
var jaxFolder = regexp.MustCompile(`^xla_([a-z]+[0-9]*)$`)

// pluginAt returns the plugin in the file at path, whatever it is called.
func pluginAt(path, source string) Plugin {
	p := Plugin{Name: pluginName(path), Path: path, Source: source}
	if p.Family() == "cuda" {
		p.NVIDIA = nvidiaFolder(path)
	}
	return p
}

// unloadable returns an error where the file cannot be a library of this machine, in clearer words than the loader's:
// a text, one that was cut off (which ends the process that loads it), one for another architecture.
func unloadable(path string) error {
	file, err := os.Open(path)
	if err != nil || runtime.GOOS != "linux" {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 40)
	n, _ := io.ReadFull(file, head)
	if head = head[:n]; n == 0 {
		return errors.New("it is no shared library: it is empty")
	} else if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return fmt.Errorf("it is no shared library: it begins with %q", head)
	}
	f, err := elf.NewFile(file)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // a library's table of sections is at its end
		return fmt.Errorf("it is cut off, after %d bytes", info.Size())
	} else if err != nil {
		return nil // the loader reports the error
	}
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if f.Machine != want || f.Class != elf.ELFCLASS64 {
		return fmt.Errorf("it is for %v (%v), this machine is %v (%v)", f.Machine, f.Class, want, elf.ELFCLASS64)
	}
	return nil
}

func pluginName(path string) string {
	file := filepath.Base(path)
	if strings.HasPrefix(strings.TrimPrefix(file, "lib"), RuntimeName) {
		return RuntimeName
	}
	for _, re := range pluginFiles {
		if m := re.FindStringSubmatch(file); m != nil {
			return m[1]
		}
	}
	if m := jaxFolder.FindStringSubmatch(filepath.Base(filepath.Dir(path))); m != nil {
		return m[1]
	}
	// A renamed file: derive the family from the content.
	for _, family := range []string{"cuda", "rocm", "tpu", "cpu"} {
		if strings.Contains(strings.ToLower(file), family) {
			return family
		}
	}
	return strings.TrimSuffix(file, ".so")
}
