// Package pypi downloads pinned files from the Python package index that pip is configured for,
// without Python or pip. It reads mirrors, folders of wheels, proxy and certificates from pip's
// configuration files and environment variables. Every file is verified by its pinned SHA-256,
// so the source need not be trusted.
package pypi

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Config holds pip's settings for downloads.
type Config struct {
	// Indexes are simple repositories (PEP 503) in order: index-url and extra-index-url. Empty
	// with no-index.
	Indexes []string
	// FindLinks are folders and pages with links, which precede the indexes.
	FindLinks []string
	// Cert is a file or a folder of certificates that replaces the system's; "" for the
	// system's.
	Cert string
	// Proxy is the proxy to use; "" for the proxy of the environment (HTTPS_PROXY and so on).
	Proxy string
	// TrustedHosts, as host or host:port, need no valid certificate.
	TrustedHosts []string
	// Timeout limits the wait for a response.
	Timeout time.Duration
	// Retries is the number of repetitions of a failed request.
	Retries int
}

// DefaultIndex is the index if none is configured.
const DefaultIndex = "https://pypi.org/simple"

// Place locates pip's configuration files; tests set its fields.
type Place struct {
	Getenv func(string) string
	Home   string // the user's home folder, "" if unknown
	Root   string // put before the system's absolute paths; "" on a real machine
}

// Here returns the place of the running process.
func Here() Place {
	home, _ := os.UserHomeDir()
	return Place{Getenv: os.Getenv, Home: home}
}

// Config reads pip's configuration as `pip install` does: the system's files, the user's, the
// active environment's, the file in PIP_CONFIG_FILE, then the variables PIP_INDEX_URL,
// PIP_EXTRA_INDEX_URL and so on; later ones override. An unreadable or malformed file is an
// error that names it.
func (p Place) Config() (Config, error) {
	settings := map[string]string{}
	for _, file := range p.files() {
		if err := readPipConf(file, settings); err != nil {
			return Config{}, err
		}
	}
	for _, key := range []string{"index-url", "extra-index-url", "no-index", "find-links", "cert", "proxy", "trusted-host",
		"timeout", "retries"} {
		variable := "PIP_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
		value := p.Getenv(variable)
		if key == "timeout" && value == "" {
			value = p.Getenv("PIP_DEFAULT_TIMEOUT")
		}
		if value != "" {
			settings[key] = value
		}
	}
	c := Config{
		FindLinks: strings.Fields(settings["find-links"]), TrustedHosts: strings.Fields(settings["trusted-host"]),
		Cert: settings["cert"], Proxy: settings["proxy"], Timeout: 15 * time.Second, Retries: 5,
	}
	if c.Cert == "" { // pip's library heeds these, too
		for _, variable := range []string{"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} {
			if c.Cert = p.Getenv(variable); c.Cert != "" {
				break
			}
		}
	}
	if c.Proxy != "" && !strings.Contains(c.Proxy, "://") {
		c.Proxy = "http://" + c.Proxy
	}
	switch strings.ToLower(settings["no-index"]) {
	case "", "0", "no", "n", "f", "false", "off":
		index := settings["index-url"]
		if index == "" {
			index = DefaultIndex
		}
		c.Indexes = append([]string{index}, strings.Fields(settings["extra-index-url"])...)
	}
	for _, index := range c.Indexes {
		if u, err := url.Parse(index); err != nil || u.Scheme == "" {
			return Config{}, fmt.Errorf("pip's index %q is not a URL", index)
		}
	}
	if text := settings["timeout"]; text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(seconds > 0) {
			return Config{}, fmt.Errorf("pip's timeout is %q, want seconds", text)
		}
		c.Timeout = time.Duration(seconds * float64(time.Second))
	}
	if text := settings["retries"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return Config{}, fmt.Errorf("pip's retries are %q, want a number", text)
		}
		c.Retries = n
	}
	return c, nil
}

// files lists the configuration files in the order in which they are read (pip's get_configuration_files on Linux).
func (p Place) files() []string {
	own := p.Getenv("PIP_CONFIG_FILE")
	if own == os.DevNull {
		return nil
	}
	var files []string
	shared := p.Getenv("XDG_CONFIG_DIRS")
	if shared == "" {
		shared = p.Root + "/etc/xdg"
	}
	for _, dir := range filepath.SplitList(shared) {
		files = append(files, filepath.Join(dir, "pip", "pip.conf"))
	}
	files = append(files, p.Root+"/etc/pip.conf")
	if own == "" && p.Home != "" {
		config := p.Getenv("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(p.Home, ".config")
		}
		files = append(files, filepath.Join(p.Home, ".pip", "pip.conf"), filepath.Join(config, "pip", "pip.conf"))
	}
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := p.Getenv(variable); dir != "" {
			files = append(files, filepath.Join(dir, "pip.conf"))
			break
		}
	}
	if own != "" {
		files = append(files, own)
	}
	return files
}

// readPipConf adds the settings of one file in the format of Python's configparser: [install]
// overrides [global]. Indented lines continue a value. A missing file adds nothing.
func readPipConf(path string, settings map[string]string) error {
	text, err := regular.Read(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pip's configuration: %w", err)
	}
	sections := map[string]map[string]string{}
	section, key := "", ""
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
			if key == "" {
				return fmt.Errorf("pip's configuration %s, line %d: %q goes on from nothing", path, n, trimmed)
			}
			sections[section][key] += "\n" + trimmed
		case trimmed[0] == '[' && strings.HasSuffix(trimmed, "]"):
			section, key = trimmed[1:len(trimmed)-1], ""
			if sections[section] == nil {
				sections[section] = map[string]string{}
			}
		default:
			i := strings.IndexAny(trimmed, "=:")
			if i < 1 || section == "" {
				return fmt.Errorf("pip's configuration %s, line %d: got %q, want KEY = VALUE in a section", path, n, trimmed)
			}
			key = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(trimmed[:i])), "_", "-")
			sections[section][key] = strings.TrimSpace(trimmed[i+1:])
		}
	}
	for _, name := range []string{"global", "install"} {
		for key, value := range sections[name] {
			if value != "" {
				settings[key] = value
			}
		}
	}
	return nil
}
