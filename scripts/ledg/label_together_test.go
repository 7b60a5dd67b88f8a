package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// certificate writes a certificate for a name that signs itself, and its key.
func certificate(t *testing.T, dir, name string) *x509.CertPool {
	t.Helper()
	key := fatal.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der := fatal.Get(x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key))(t)
	secret := fatal.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for file, data := range map[string][]byte{"cert.pem": own, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		fatal.If(t, os.WriteFile(filepath.Join(dir, file), data, 0o600))
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(own)
	return pool
}

// Two people on a network have a link each, which keeps through a restart, and their names
// in the ledger; without TLS a line says so.
func TestLabelTogether(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	unlabelled(t, filepath.Join(dir, "photos"))
	pool := certificate(t, dir, "localhost")
	base := []string{"label", "--dataset", "folder", "--root", "photos", "--classes", "cat,dog"}
	people := append(slices.Clone(base), "--by", "anna,ben", "--listen", "0.0.0.0")
	t.Cleanup(func() { call(t, dir, append(slices.Clone(base), "--stop")...) })
	start := func(more ...string) (links map[string]string, errs string) {
		t.Helper()
		out, errs, status := call(t, dir, append(slices.Clone(people), more...)...)
		if status != 0 {
			t.Fatalf("%q: status %d, %s%s", more, status, out, errs)
		}
		links = make(map[string]string)
		for line := range strings.Lines(out) {
			name, link, _ := strings.Cut(strings.TrimSpace(line), "\t")
			links[name] = link
		}
		if len(links) != 2 || links["anna"] == links["ben"] || links["anna"] == "" || links["ben"] == "" {
			t.Fatalf("the links are %q", out)
		}
		return links, errs
	}
	links, errs := start("--detach")
	if strings.Count(errs, "warning: others on the network can read the links and labels") != 1 {
		t.Errorf("it says %s", errs)
	}
	seen := make(map[string]bool)
	for name, link := range links {
		at := fatal.Get(url.Parse(link))(t)
		local := fmt.Sprintf("http://127.0.0.1:%s%s", at.Port(), at.Path)
		var view struct{ Question struct{ ID, Rev string } }
		getJSON(t, local, "view?client=test", &view)
		if seen[view.Question.ID] {
			t.Errorf("both are asked about %s", view.Question.ID)
		}
		seen[view.Question.ID] = true
		reply, err := http.Post(local+"act", "application/json", strings.NewReader(fmt.Sprintf(`{"client":"test","op":"label","id":%q,"rev":%q,"class":"dog"}`, view.Question.ID, view.Question.Rev)))
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatal(reply, err)
		}
		reply.Body.Close()
		st, _, err := labels.Read(os.DirFS(filepath.Join(dir, "photos")), labels.File, nil, labels.Options{})
		if err != nil || st.Image(view.Question.ID).By != name {
			t.Errorf("%s's answer is %+v, %v", name, st.Image(view.Question.ID), err)
		}
	}
	if same, errs := start(); fmt.Sprint(same) != fmt.Sprint(links) || !strings.Contains(errs, "for anna, ben; --stop ends it") {
		t.Errorf("a second server: %v, %s", same, errs)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(slices.Clone(base), "--by", "eve"), "for anna, ben: stop it with --stop before eve labels"},
		{append(slices.Clone(base), "--listen", "127.0.0.1"), "at 0.0.0.0: stop it with --stop before you serve at another address"},
	} {
		if _, errs, status := call(t, dir, c.args...); status != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("%q: status %d, %s", c.args, status, errs)
		}
	}
	stop := func() {
		t.Helper()
		says(t, "stopped the server of", dir, append(slices.Clone(base), "--stop")...)
	}
	stop()
	if again, _ := start("--detach"); fmt.Sprint(again) != fmt.Sprint(links) {
		t.Errorf("the links were %v and are %v", links, again)
	}
	stop()
	// With TLS nothing warns, and the links have the certificate's name.
	links, errs = start("--detach", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if strings.Contains(errs, "warning") || !strings.HasPrefix(links["ben"], "https://localhost:") {
		t.Errorf("the links are %v; %s", links, errs)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	reply := fatal.Get(client.Get(links["ben"] + "setup"))(t)
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Errorf("by TLS: %s", reply.Status)
	}
	stop()
}
