package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// claim makes this process the one that serves name, unless one serves it or is about to.
// To end a server, or to start one in the background, nothing is claimed.
func (f *labelFlags) claim(ctx context.Context, name string) (running page.Running, alive bool, release func() error, err error) {
	release = func() error { return nil }
	for begun, reported := time.Now(), false; ; {
		if running, alive = page.Serving(name); alive || f.stop || f.detach {
			return running, alive, release, nil
		}
		free, ok, err := page.Claim(name)
		if ok {
			return running, false, free, nil
		}
		if err != nil { // Listen says so, and it is served all the same
			return running, false, release, nil
		}
		if !reported && time.Since(begun) > 3*time.Second {
			reported = true
			f.progress("another process is about to serve these labels; waiting for its address\n")
		}
		select {
		case <-ctx.Done():
			return running, false, release, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// checkAddress validates the address of the page.
func (f *labelFlags) checkAddress(cmd *cobra.Command) error {
	if (f.cert == "") != (f.key == "") {
		return usagef("--tls-cert and --tls-key: give both, such as --tls-cert cert.pem --tls-key key.pem")
	}
	if f.cert != "" {
		cert, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return usagef("--tls-cert %s: %w", f.cert, err)
		}
		f.encrypt = &tls.Config{Certificates: []tls.Certificate{cert}}
	}
	if f.host = f.listen; !cmd.Flags().Changed("listen") {
		return nil
	}
	if host, port, err := net.SplitHostPort(f.listen); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || cmd.Flags().Changed("port") {
			return usagef("--listen %s: want HOST:PORT, or HOST and --port", f.listen)
		}
		f.host, f.port = host, int(n)
	}
	if f.host = strings.Trim(f.host, "[]"); f.host == "" || strings.ContainsAny(f.host, "/ ") {
		return usagef("--listen %q: want HOST or HOST:PORT, such as 0.0.0.0:8000 for all addresses of this machine", f.listen)
	}
	return nil
}

// open listens, for a page with classes. The error beside a listener is a note.
func (f *labelFlags) open(name string, classes []string) (net.Listener, page.Running, error) {
	want := page.Running{Address: page.Address{Host: f.host, Port: f.port, TLS: f.encrypt != nil}, By: f.by, Classes: classes}
	if ip := net.ParseIP(f.host); want.TLS && ip != nil && ip.IsUnspecified() {
		if names := f.encrypt.Certificates[0].Leaf.DNSNames; len(names) > 0 && !strings.HasPrefix(names[0], "*") {
			want.Name = names[0] // browsers accept it by that alone
		}
	}
	l, running, err := page.Listen(name, want)
	if l == nil {
		return nil, running, fmt.Errorf("--listen %s, --port %d: %w", cmp.Or(f.host, "127.0.0.1"), f.port, err)
	}
	if at := l.Addr().(*net.TCPAddr); f.host != "" && at.IP.IsLoopback() {
		f.progress("%s is %s, the loopback address, which other machines cannot reach; --listen 0.0.0.0 listens on all addresses\n", f.host, at.IP)
	}
	if want.TLS {
		l = tls.NewListener(l, f.encrypt)
	}
	return l, running, err
}

// already says that a server runs, and where.
func (f *labelFlags) already(running page.Running) {
	f.progress("process %d serves %s already, for %s; --stop ends it\n", running.Process, filepath.Join(f.ledger, labels.File), strings.Join(running.By, ", "))
	f.links(running)
}

// links prints the address of each annotator's page, and warns where others can read it.
func (f *labelFlags) links(running page.Running) {
	if ip := net.ParseIP(running.Host); running.Host != "" && !running.TLS && (ip == nil || !ip.IsLoopback()) {
		f.progress("warning: others on the network can read the links and labels; --tls-cert and --tls-key encrypt them\n")
	}
	for _, name := range running.By {
		if len(running.By) > 1 {
			f.stdout("%s\t%s\n", name, running.Link(name))
		} else {
			f.stdout("%s\n", running.Link(name))
		}
	}
}

// background starts the same command again without --detach, and waits until it, or another
// process, serves.
func (f *labelFlags) background(ctx context.Context, name string) error {
	args := slices.DeleteFunc(slices.Clone(f.args), func(a string) bool { return a == "--detach" || a == "--detach=true" })
	saved, err := page.CacheFile(name, ".log")
	if err != nil {
		return err
	}
	log, err := os.CreateTemp(filepath.Dir(saved), "*.log")
	if err != nil {
		return err
	}
	defer log.Close()
	process, ended, err := startDetached(args, log)
	if err != nil {
		os.Remove(log.Name())
		return err
	}
	slow := time.After(3 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over, failed := false, error(nil)
	for {
		running, ok := page.Serving(name)
		switch {
		case ok && running.Process == process:
			if err := os.Rename(log.Name(), saved); err != nil {
				return err
			}
			f.progress("process %d serves %s; --stop ends it; it writes to %s\n", process, filepath.Join(f.ledger, labels.File), saved)
			f.links(running)
			return nil
		case ok && over && failed == nil:
			os.Remove(log.Name()) // the process has logged only what is printed here
			f.already(running)
			return nil
		case over:
			text, _ := regular.Read(log.Name(), 1<<20)
			os.Remove(log.Name())
			return errors.New(strings.TrimPrefix(cli.OneLine(errors.New(string(text))), "ledg: "))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case failed = <-ended:
			over = true // and a last look whether another one serves
		case <-slow:
			f.progress("the server reads the images first; %s has its progress\n", log.Name())
		case <-tick.C:
		}
	}
}
