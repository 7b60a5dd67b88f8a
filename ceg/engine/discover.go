package engine

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// search knows where plugins may lie on a machine. Its fields exist so that a test can describe one.
type search struct {
	getenv func(string) string
	home   string                 // the user's home folder, "" if unknown
	root   string                 // put before the system's absolute paths; "" on a real machine
	python func() (path []string) // import path of the active Python; may be slow
	// goIsFaster makes auto prefer the Go backend to a plugin for the CPU, unless the work is
	// heavy.
	goIsFaster bool
}

// thisMachine is the search of the running process.
func thisMachine() search {
	home, _ := os.UserHomeDir()
	return search{getenv: os.Getenv, home: home, python: sync.OnceValue(pythonPath), goIsFaster: goIsFaster}
}

// pythonPath asks the Python of the active environment, or the python3 on PATH, for the folders it
// imports from.
func pythonPath() []string {
	python := "python3"
	if env := cmp.Or(os.Getenv("VIRTUAL_ENV"), os.Getenv("CONDA_PREFIX")); env != "" {
		python = filepath.Join(env, "bin", python)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c", `import sys; print("\n".join(sys.path))`).Output()
	if err != nil {
		return nil
	}
	return strings.Split(string(out), "\n")
}

// plugins returns the plugins of this machine, each file once, in the order in which they are to be tried: accelerators
// before the CPU, those of GoMLX's folders before JAX's.
//
// Python looks for JAX's plugins in a thorough search, and where there is an accelerator.
func (s search) plugins(thorough bool) []Plugin {
	found := s.installed()
	if thorough || hasNVIDIA(s.root) || exists(s.root+"/dev/kfd") {
		found = append(found, jax(s.sitePackages())...)
	}
	seen := map[string]bool{}
	found = slices.DeleteFunc(found, func(p Plugin) bool {
		file, err := filepath.EvalSymlinks(p.Path)
		if err != nil || seen[file] {
			return true // a dangling link, or a second name of one file
		}
		seen[file] = true
		return false
	})
	slices.SortStableFunc(found, func(a, b Plugin) int { return cmp.Compare(rank(a), rank(b)) })
	return found
}

// rank orders plugins by how fast their devices are likely to be.
func rank(p Plugin) int {
	switch p.Family() {
	case "cuda":
		return 0
	case "cpu":
		return 2
	}
	return 1
}

// installed returns the plugins in the folders of PJRT_PLUGIN_LIBRARY_PATH, or else where go-xla's
// installer puts them.
func (s search) installed() (found []Plugin) {
	dirs := filepath.SplitList(s.getenv("PJRT_PLUGIN_LIBRARY_PATH"))
	if len(dirs) == 0 {
		for _, lib := range []string{filepath.Join(s.home, ".local/lib/go-xla"), s.root + "/usr/local/lib/go-xla"} {
			dirs = append(dirs, lib, filepath.Join(lib, "nvidia"))
		}
	}
	for _, dir := range dirs {
		if dir, err := filepath.Abs(dir); err == nil {
			files, _ := filepath.Glob(filepath.Join(dir, "pjrt*.so")) // sorted
			for _, file := range files {
				if slices.ContainsFunc(pluginFiles, func(re *regexp.Regexp) bool { return re.MatchString(filepath.Base(file)) }) {
					found = append(found, pluginAt(file, dir))
				}
			}
		}
	}
	return found
}

// sitePackages returns the folders that Python imports from, without relative ones.
func (s search) sitePackages() []string {
	if s.python == nil {
		return nil
	}
	return slices.DeleteFunc(s.python(), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// jax returns the plugins that came with JAX in the given folders of Python packages.
func jax(sites []string) []Plugin {
	var found []Plugin
	for _, site := range sites {
		files, _ := filepath.Glob(filepath.Join(site, "jax_plugins", "xla_*", "xla_*_plugin.so"))
		for _, file := range files {
			p := pluginAt(file, "")
			p.Source = "JAX" + distVersion(site, "jax_"+p.Name+"_pjrt") + " in " + site
			found = append(found, p)
		}
	}
	return found
}

// distVersion returns the version of an installed Python package after a space, or "".
func distVersion(site, name string) string {
	dirs, _ := filepath.Glob(filepath.Join(site, name+"-*.dist-info"))
	if len(dirs) == 0 {
		return ""
	}
	return " " + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(dirs[0]), name+"-"), ".dist-info")
}
