package main

import (
	"debug/buildinfo"
	"fmt"
)

// platform is one that a release is for. For Linux there are two binaries: one needs glibc 2.17 or newer and loads
// ONNX Runtime, which itself needs glibc 2.28; the static one, for musl and empty containers, loads no library.
type platform struct {
	os, arch, kind string // kind is "_static" or empty
	wheel          string // platform tag of the wheel
	cgo            bool   // it may be built with cgo, against glibc 2.17
}

// platforms are the platforms of a release. Go 1.27 needs macOS 13.
var platforms = []platform{
	{"linux", "amd64", "", "manylinux_2_17_x86_64.manylinux2014_x86_64", true},
	{"linux", "arm64", "", "manylinux_2_17_aarch64.manylinux2014_aarch64", false},
	{"linux", "amd64", static, "musllinux_1_1_x86_64", false},
	{"linux", "arm64", static, "musllinux_1_1_aarch64", false},
	{"darwin", "arm64", "", "macosx_13_0_arm64", false},
	{"darwin", "amd64", "", "macosx_13_0_x86_64", false},
	{"windows", "amd64", "", "win_amd64", false},
	{"windows", "arm64", "", "win_arm64", false},
}

const static = "_static"

// name is the platform's name in files, such as linux_amd64_static.
func (p platform) name() string { return p.os + "_" + p.arch + p.kind }

// file is the name of the platform's binary before it is packed, program that within an archive.
func (p platform) file() string { return "ledg_" + p.name() + p.suffix() }

func (p platform) program() string { return "ledg" + p.suffix() }

func (p platform) suffix() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// check validates a binary of a release: it has to be of the platform, of a commit, and of files
// that are all in it.
func (p platform) check(b *buildinfo.BuildInfo) error {
	for _, want := range []struct{ key, value string }{{"GOOS", p.os}, {"GOARCH", p.arch}, {"-trimpath", "true"}, {"vcs.modified", "false"}} {
		if got := setting(b, want.key); got != want.value {
			return fmt.Errorf("%s was built with %s=%s, want %s", p.file(), want.key, got, want.value)
		}
	}
	cgo := setting(b, "CGO_ENABLED") == "1"
	if cgo && !p.cgo {
		return fmt.Errorf("%s is built with cgo, which is not for %s", p.file(), p.name())
	}
	if got, want := cgo || setting(b, "-tags") == "onnxruntime", p.kind != static; p.os == "linux" && got != want {
		return fmt.Errorf("%s can load ONNX Runtime: %v, want %v (-tags onnxruntime)", p.file(), got, want)
	}
	if setting(b, "vcs.revision") == "" {
		return fmt.Errorf("%s does not say what commit it is of: build it with -buildvcs=true", p.file())
	}
	return nil
}

func setting(b *buildinfo.BuildInfo, key string) string {
	for _, s := range b.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
