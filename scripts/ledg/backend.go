package main

import (
	"bufio"
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

// newBackendCommand returns the commands about what computes.
func newBackendCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backend",
		Short: "Show and install what computes: pure Go, XLA on CPU and GPU, or ONNX Runtime",
		Long: `Show and install what computes. Every command that trains takes --backend:

  auto                  XLA where its plugin works and is faster: on a GPU; on a CPU
                        to train ResNets, or smallcnn on images of more than 64
                        pixels, and where Go has no vector kernels; else go. Or
                        what the environment variable GOMLX_BACKEND says, if it
                        is set
  go                    pure Go, always there
  xla                   XLA with the best plugin that works here
  xla:cuda, xla:cpu     XLA with the plugin of that name
  xla:/path/plugin.so   XLA with the plugin in that file

and those that compute features by a network from an ONNX file take, too,

  onnxruntime           ONNX Runtime; auto takes it there if "backend install
                        onnxruntime" has put it in its place, except on a GPU
  onnxruntime:/path/lib the one in that file

A CUDA plugin that came with JAX (pip install "jax[cuda13]") is found by itself in
the active Python environment. Options follow after a comma:
xla:cuda,tf32=false computes float32 in full (as --precision float32 does),
preallocate takes the GPU's memory at once instead of as needed,
memory_fraction=0.9 limits it. GoMLX's own options of the Go backend follow a
colon: go:parallelism=-1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBackendListCommand(), newBackendInstallCommand())
	return cmd
}

// newBackendListCommand returns the command that tries every backend.
func newBackendListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the backends of this machine, and which one auto takes",
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
				return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
					Backends []engine.Listing `json:"backends"`
					Auto     string           `json:"auto"`
					Why      string           `json:"why"`
					// To train ResNets, or smallcnn on more than 64 pixels.
					AutoHeavy string `json:"auto_heavy"`
					WhyHeavy  string `json:"why_heavy"`
					Slow      string `json:"slow_build,omitempty"`
				}{list, auto.Name, auto.Description, heavy.Name, heavy.Description, engine.SlowBuild()})
			}
			t := backendTable(list)
			t.Notes = append(t.Notes, "auto: "+auto.Description)
			if heavy.Name != auto.Name {
				t.Notes = append(t.Notes, "auto, to train ResNets, or smallcnn on more than 64 pixels: "+heavy.Description)
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
		if api == "" {
			api = "-"
		}
		if from == "" {
			from = "this program"
		}
		devices := "does not work: " + l.Unusable
		if l.Unusable == "" {
			devices = deviceNames(l.Devices)
		}
		t.AddRow(l.Name, api, from, devices)
	}
	return t
}

// deviceNames lists devices with their memory.
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

// newBackendInstallCommand returns the command that downloads a plugin.
func newBackendInstallCommand() *cobra.Command {
	var yes bool
	var from, to string
	cmd := &cobra.Command{
		Use:   "install [cpu|cuda|cuda12|cuda13|rocm|rocm7|rocm10|tpu|onnxruntime]",
		Short: "Download an XLA plugin or ONNX Runtime, after asking",
		Long: `Download an XLA plugin into ~/.local/lib/go-xla, after asking. Without a name it is
the one for this machine: CUDA where there is an NVIDIA GPU, in the version that its
driver can run, else CPU.

The plugins for the CPU, ROCm (rocm is the one for /opt/rocm) and TPUs are files of
packages on PyPI, of a version and SHA-256 that ledg knows; for the CPU the first of
--from's names that can be had. A plugin comes from where pip is
configured to look (pip.conf and its variables, such as PIP_INDEX_URL, PIP_PROXY and
PIP_CERT); neither pip nor Python has to be there. It is checked and tried before it
takes an older one's place, and again when it is loaded after it has changed. --from
github takes GoMLX's own release for the CPU instead, which no checksum is published
for. Those for ROCm need ROCm itself beside them. They and the one for TPUs were
downloaded and checked, but never ran on such a machine.

onnxruntime is the library of ONNX Runtime's package (MIT licence), likewise, for Linux
with glibc 2.28, macOS 14 on Apple silicon and Windows, into ~/.local/lib/onnxruntime; it
ran on Linux on x86-64 alone.

A plugin for CUDA comes from PyPI with go-xla's installer, in the latest version: its
checksums are those that PyPI says, and ledg knows none.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := ""
			if len(args) > 0 {
				kind = args[0]
			}
			plan, err := engine.NewPlan(kind, from)
			if err != nil {
				return usagef("%w", err)
			}
			if to != "" {
				if plan.Folder, err = filepath.Abs(to); err != nil {
					return err
				}
			}
			consent := func(p engine.Plan) bool { return ask(cmd.InOrStdin(), cmd.ErrOrStderr(), p) }
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
	cmd.Flags().StringVar(&from, "from", "", "source of a plugin for the CPU: "+strings.Join(engine.Sources(), ", ")+" (default: the first that can be had from PyPI)")
	cmd.Flags().StringVar(&to, "to", "", "another folder, in which the plugin is not found by its name")
	return cmd
}

// ask puts a plan to the user.
func ask(in io.Reader, out io.Writer, p engine.Plan) bool {
	fmt.Fprintf(out, "Download %s\nfrom %s\ninto %s? [y/N] ", p.What, p.From, p.Folder)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}
