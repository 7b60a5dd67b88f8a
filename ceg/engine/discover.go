package engine

import (
	"bufio"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// search knows where plugins may lie on a machine. Its fields exist so that a test can describe one.
type search struct {
	getenv func(string) string
	home   string                 // the user's home folder, "" if unknown
	root   string                 // put before the system's absolute paths; "" on a real machine
	python func() (path []string) // import path of the python3 on PATH; may be slow
	// goIsFaster makes auto prefer the Go backend to a plugin for the CPU, unless the work is
	// heavy.
	goIsFaster bool
}

// thisMachine is the search of the running process.
func thisMachine() search {
	home, _ := os.UserHomeDir()
	return search{getenv: os.Getenv, home: home, python: pythonPath, goIsFaster: goIsFaster}
}

// pythonPath asks the python3 on PATH for the folders it imports from.
func pythonPath() []string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "-c", `import sys; print("\n".join(sys.path))`).Output()
	if err != nil {
		return nil
	}
	return strings.Split(string(out), "\n")
}

// plugins returns the plugins of this machine, each file once, in the order in which they are to be tried: accelerators
// before the CPU, those of GoMLX's folders before those of a Python installation.
//
// Where no package with a plugin is found in the usual places, a thorough search also asks the python3 on PATH, which
// may be a launcher for packages that lie elsewhere (pyenv, asdf).
func (s search) plugins(thorough bool) []Plugin {
	found := s.installed()
	packages := pythonPlugins(s.sitePackages())
	if len(packages) == 0 && s.python != nil && (thorough || hasNVIDIA(s.root)) {
		packages = pythonPlugins(s.python())
	}
	found = append(found, packages...)
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

// installed returns the plugins in the folders where GoMLX looks (go-xla's pjrt.AvailablePlugins).
func (s search) installed() []Plugin {
	var found []Plugin
	for _, dir := range s.folders() {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range files { // sorted by name
			for _, re := range pluginFiles {
				if re.MatchString(f.Name()) {
					p := pluginAt(filepath.Join(dir, f.Name()), dir)
					if o := readOrigin(p.Path); o.Package != "" {
						p.Source = o.Package + " in " + dir
					}
					found = append(found, p)
					break
				}
			}
		}
	}
	return found
}

// folders returns the folders in which GoMLX looks for plugins: those of PJRT_PLUGIN_LIBRARY_PATH alone where that is
// set, else go-xla's own below the home folder and /usr/local, then the dynamic loader's.
func (s search) folders() []string {
	var dirs []string
	add := func(paths ...string) {
		for _, p := range paths {
			if filepath.IsAbs(p) && !slices.Contains(dirs, p) {
				dirs = append(dirs, p)
			}
		}
	}
	if env := s.getenv("PJRT_PLUGIN_LIBRARY_PATH"); env != "" {
		for _, p := range filepath.SplitList(env) {
			if abs, err := filepath.Abs(p); p != "" && err == nil {
				add(abs)
			}
		}
		return dirs
	}
	if s.home != "" {
		add(filepath.Join(s.home, ".local/lib/go-xla"), filepath.Join(s.home, ".local/lib/go-xla/nvidia"),
			filepath.Join(s.home, ".local/lib/gomlx/pjrt"))
	}
	add(s.root+"/usr/local/lib/go-xla", s.root+"/usr/local/lib/go-xla/nvidia", s.root+"/usr/local/lib/gomlx/pjrt")
	add(filepath.SplitList(s.getenv("LD_LIBRARY_PATH"))...)
	add(s.loaderFolders(s.root + "/etc/ld.so.conf")...)
	return dirs
}

// loaderFolders reads the folders named in a configuration file of the dynamic loader and in those
// it includes. Unreadable folders are skipped.
func (s search) loaderFolders(conf string) []string {
	f, err := os.Open(conf)
	if err != nil {
		return nil
	}
	defer f.Close()
	var dirs []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "include":
			files, _ := filepath.Glob(s.root + fields[1])
			for _, file := range files {
				if file != conf {
					dirs = append(dirs, s.loaderFolders(file)...)
				}
			}
		case len(fields) == 1:
			dirs = append(dirs, s.root+fields[0])
		}
	}
	return dirs
}

// sitePackages returns the folders in which Python packages are likely to be installed, the active environment first.
func (s search) sitePackages() []string {
	dirs := filepath.SplitList(s.getenv("PYTHONPATH"))
	add := func(patterns ...string) {
		for _, p := range patterns {
			found, _ := filepath.Glob(p)
			slices.Reverse(found) // python3.12 before python3.11
			dirs = append(dirs, found...)
		}
	}
	prefix := func(dir string) {
		add(filepath.Join(dir, "lib/python3*/site-packages"), filepath.Join(dir, "lib64/python3*/site-packages"))
	}
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := s.getenv(variable); dir != "" {
			prefix(dir)
		}
	}
	for _, dir := range filepath.SplitList(s.getenv("PATH")) {
		if python := filepath.Join(dir, "python3"); exists(python) {
			prefix(filepath.Dir(dir))
			if target, err := filepath.EvalSymlinks(python); err == nil {
				prefix(filepath.Dir(filepath.Dir(target)))
			}
			break
		}
	}
	if s.home != "" {
		prefix(filepath.Join(s.home, ".local"))
	}
	add(s.root+"/usr/local/lib/python3*/dist-packages", s.root+"/usr/lib/python3/dist-packages",
		s.root+"/usr/lib/python3*/site-packages")
	return dirs
}

// pythonPlugins returns the plugins in the given folders of Python packages: JAX's, and the
// packages that [Install] knows.
func pythonPlugins(sites []string) []Plugin { return append(jax(sites), packaged(sites)...) }

// jax returns the plugins that came with JAX in the given folders of Python packages.
func jax(sites []string) []Plugin {
	var found []Plugin
	for _, site := range sites {
		if !filepath.IsAbs(site) {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(site, "jax_plugins", "xla_*", "xla_*_plugin.so"))
		for _, file := range files {
			p := pluginAt(file, "")
			p.Source = "JAX in " + site
			if v := distVersion(site, "jax_"+p.Name+"_pjrt"); v != "" {
				p.Source = "JAX " + v + " in " + site
			}
			found = append(found, p)
		}
	}
	return found
}

// distVersion returns the version of an installed Python package, or "".
func distVersion(site, name string) string {
	dirs, _ := filepath.Glob(filepath.Join(site, name+"-*.dist-info"))
	if len(dirs) == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(dirs[0]), name+"-"), ".dist-info")
}
