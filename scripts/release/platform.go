package main

import (
	"debug/buildinfo"
	"fmt"
)

// platform is one that a release is for.
type platform struct {
	os, arch string
	// wheel is the platform tag of a binary without cgo, which on Linux is linked statically;
	// libc is that of one with cgo, built against glibc 2.17, empty where there is none.
	wheel, libc string
}

// platforms are those of a release. Go 1.27 needs macOS 13.
var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "manylinux_2_17_x86_64.manylinux2014_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", ""},
	{"darwin", "arm64", "macosx_13_0_arm64", ""},
	{"darwin", "amd64", "macosx_13_0_x86_64", ""},
	{"windows", "amd64", "win_amd64", ""},
	{"windows", "arm64", "win_arm64", ""},
}

// file is the name of the platform's binary before it is packed, program that within an archive.
func (p platform) file() string { return fmt.Sprintf("ledg_%s_%s%s", p.os, p.arch, p.suffix()) }

func (p platform) program() string { return "ledg" + p.suffix() }

func (p platform) suffix() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// tag is the platform tag of a wheel with a binary.
func (p platform) tag(b *buildinfo.BuildInfo) (string, error) {
	switch {
	case setting(b, "CGO_ENABLED") != "1":
		return p.wheel, nil
	case p.libc == "":
		return "", fmt.Errorf("%s is built with cgo, which is not for %s/%s", p.file(), p.os, p.arch)
	}
	return p.libc, nil
}

// check says what is wrong with a binary of a release: it has to be of the platform, of a
// commit, and of files that are all in it.
func (p platform) check(b *buildinfo.BuildInfo) error {
	for _, want := range []struct{ key, value string }{{"GOOS", p.os}, {"GOARCH", p.arch}, {"-trimpath", "true"}, {"vcs.modified", "false"}} {
		if got := setting(b, want.key); got != want.value {
			return fmt.Errorf("%s was built with %s=%s, want %s", p.file(), want.key, got, want.value)
		}
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
