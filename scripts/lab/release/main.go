package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "version, as in 0.1.0")
	flag.StringVar(&r.binaries, "binaries", "", "folder of the binaries")
	flag.StringVar(&r.out, "out", "dist", "folder to write to")
	flag.StringVar(&r.licence, "licence", "../../LICENSE", "file of ledg's licence")
	flag.StringVar(&r.notice, "notice", "../ledg/NOTICE", "file of the licences of what is linked")
	flag.StringVar(&r.python, "python", "../release/python", "folder of the Python module")
	seconds := flag.Int64("time", 0, "time of all files in archives, in seconds since 1970")
	flag.Parse()
	r.at = time.Unix(*seconds, 0).UTC()
	if err := r.make(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is what one is made from.
type release struct {
	version, binaries, out, licence, notice, python string
	at                                              time.Time
}

// versions are those that pip, Git tags and Go all take.
var versions = regexp.MustCompile(`^\d+\.\d+\.\d+(\.dev\d+(\+[0-9a-z]+)?)?$`)

// make writes the release into r.out, which must not have one.
func (r *release) make() error {
	if !versions.MatchString(r.version) {
		return fmt.Errorf("version %q: want one like 0.1.0", r.version)
	}
	if list, err := os.ReadDir(r.out); err == nil && len(list) > 0 {
		return fmt.Errorf("%s is not empty", r.out)
	}
	var beside []entry
	for _, path := range []string{r.licence, r.notice} {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		beside = append(beside, entry{name: filepath.Base(path), data: data})
	}
	made := map[string][]byte{}
	for _, p := range platforms {
		if err := r.pack(p, beside, made); err != nil {
			return err
		}
	}
	return r.write(made)
}

// pack adds the archive and the wheel of a platform, and of the first one the list of modules.
func (r *release) pack(p platform, beside []entry, made map[string][]byte) error {
	path := filepath.Join(r.binaries, p.file())
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := p.check(info); err != nil {
		return err
	}
	binary := entry{p.program(), data, true}
	name := fmt.Sprintf("ledg_%s_%s", r.version, p.name())
	if files := append([]entry{binary}, beside...); p.os == "windows" {
		made[name+".zip"], err = zipped(files, r.at)
	} else {
		made[name+".tar.gz"], err = tarred(files, r.at)
	}
	if err != nil {
		return err
	}
	file, whole, err := wheel(r.version, p.wheel, os.DirFS(r.python), binary, beside, r.at)
	if err != nil {
		return err
	}
	made[file] = whole
	list := fmt.Sprintf("ledg_%s.cdx.json", r.version)
	if made[list] == nil {
		made[list], err = sbom(r.version, info, r.at)
	}
	return err
}

// write writes all files and their sums.
func (r *release) write(made map[string][]byte) error {
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	var names []string
	for name := range made {
		names = append(names, name)
	}
	slices.Sort(names)
	var sums strings.Builder
	for _, name := range names {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(made[name]), name)
		if err := os.WriteFile(filepath.Join(r.out, name), made[name], 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

// tarred is a .tar.gz file whose bytes depend on its files and the time alone.
func tarred(files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: int64(f.mode()), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
