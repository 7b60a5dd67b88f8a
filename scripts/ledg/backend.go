package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newBackendCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "backend",
		SuggestFor:  []string{"install", "gpu"},
		Annotations: map[string]string{guide: "backends.md"},
		Short:       "List and install backends: pure Go, XLA, ONNX Runtime",
		Long: `List and install the backends that compute. Commands that train take --backend:

  auto                    XLA where it works and is faster, else go; or what the
                          environment variable GOMLX_BACKEND specifies
  go                      pure Go, always available
  xla                     XLA with the best plugin that works on this machine
  xla:cuda, xla:cpu       XLA with the plugin of that name
  xla:/path/plugin.so     XLA with the plugin in that file
  onnxruntime             ONNX Runtime, for networks from ONNX files
  onnxruntime:/path/lib   ONNX Runtime in that file

Options follow after a comma, such as xla:cuda,tf32=false or xla:cuda,memory_fraction=0.9.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBackendListCommand(), newBackendInstallCommand())
	return cmd
}

func newBackendListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the backends of this machine, and what auto selects",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := engine.List()
			auto, err := engine.Open("auto")
			if err != nil {
				return cli.BackendError(err)
			}
			auto.Close()
			heavy, err := engine.Work{Heavy: true}.Open("auto")
			if err != nil {
				return cli.BackendError(err)
			}
			heavy.Close()
			if asJSON {
				return json.NewEncoder(cli.Raw(cmd.OutOrStdout())).Encode(struct {
					Backends []engine.Listing `json:"backends"`
					Auto     string           `json:"auto"`
					Why      string           `json:"why"`
					// To train networks of ONNX files.
					AutoHeavy string `json:"auto_heavy"`
					WhyHeavy  string `json:"why_heavy"`
					Slow      string `json:"slow_build,omitempty"`
				}{list, auto.Name, auto.Description, heavy.Name, heavy.Description, engine.SlowBuild()})
			}
			t := backendTable(list)
			t.Notes = append(t.Notes, "auto: "+auto.Description)
			if heavy.Name != auto.Name {
				t.Notes = append(t.Notes, "auto, to train networks of ONNX files: "+heavy.Description)
			}
			if rt, why, err := engine.OpenRuntime("auto"); err == nil && rt != nil {
				t.Notes = append(t.Notes, "auto, for networks from ONNX files: "+rt.Description)
			} else if why != "" {
				t.Notes = append(t.Notes, why)
			}
			if slow := engine.SlowBuild(); slow != "" {
				t.Notes = append(t.Notes, "this ledg was "+slow)
			}
			return t.Write(cmd.OutOrStdout(), result.Text)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of a table")
	return cmd
}

// backendTable shows one backend a row.
func backendTable(list []engine.Listing) *result.Table {
	t := &result.Table{
		Title:   "Backends of this machine, best first",
		Columns: []result.Column{{Name: "--backend"}, {Name: "version"}, {Name: "from"}, {Name: "devices"}},
	}
	for _, l := range list {
		api, from := l.API, l.Plugin.Source
		api = cmp.Or(api, "-")
		from = cmp.Or(from, "this program")
		devices := "does not work: " + l.Unusable
		if l.Unusable == "" {
			devices = deviceNames(l.Devices)
		}
		t.AddRow(l.Name, api, from, devices)
	}
	return t
}

func deviceNames(devices []engine.Device) string {
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.Name
		if d.MemoryBytes > 0 {
			names[i] += " (" + humanize.IBytes(uint64(d.MemoryBytes)) + ")"
		}
	}
	return strings.Join(names, ", ")
}

func newBackendInstallCommand() *cobra.Command {
	var yes bool
	var to string
	cmd := &cobra.Command{
		Use:         "install cpu|onnxruntime",
		Annotations: map[string]string{guide: "backends.md"},
		Short:       "Download XLA for the CPU, or ONNX Runtime",
		Long: `Download XLA's plugin for the CPU, or ONNX Runtime, into ~/.local/lib. It asks before it
downloads, and tries the file.

The installer of go-xla fetches the plugin from GitHub, which publishes no checksum. ONNX
Runtime comes from PyPI and is checked by its SHA-256.

For an NVIDIA GPU, run ` + "`pip install \"jax[cuda13]\"`" + `: ledg finds JAX's plugin in the active Python
environment.`,
		ValidArgs: []string{"cpu", engine.RuntimeName},
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := engine.NewPlan(args[0])
			if err != nil {
				return usagef("%w", err)
			}
			if to != "" {
				if plan.Folder, err = filepath.Abs(to); err != nil {
					return err
				}
			}
			consent := func(p engine.Plan) bool { return confirm(cmd.InOrStdin(), cmd.ErrOrStderr(), p) }
			if yes {
				consent = func(engine.Plan) bool { return true }
			} else if in, ok := cmd.InOrStdin().(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
				return usagef("no terminal to ask on: --yes agrees to download %s from %s into %s", plan.What, plan.From, plan.Folder)
			}
			plugin, err := engine.Install(cmd.Context(), plan, consent)
			if err != nil {
				return err
			}
			use, what := "xla:"+plugin.Family(), ""
			switch {
			case plugin.Name == engine.RuntimeName:
				use, what = engine.RuntimeName, " for networks from ONNX files"
				if to != "" {
					use += ":" + plugin.Path
				}
			case to != "":
				use = "xla:" + plugin.Path
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s works: use it%s with --backend %s\n", plugin.Path, what, use)
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "download without asking")
	cmd.Flags().StringVar(&to, "out", "", "another folder, which ledg does not search (default ~/.local/lib)")
	return cmd
}

// confirm asks the user to confirm a download.
func confirm(in io.Reader, out io.Writer, p engine.Plan) bool {
	fmt.Fprintf(out, "Download %s\nfrom %s\ninto %s? [y/N] ", p.What, p.From, p.Folder)
	reply, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(reply)) {
	case "y", "yes":
		return true
	}
	return false
}
