// Package engine opens the compute backend that everything else runs on: it is the only place that does. Call
// [Open] with what the user asked for ("auto", "go", "xla:cuda", ...), hand Backend.Compute to GoMLX, print
// Backend.Description once, and Close the backend when done:
//
//	b, err := engine.Open("auto")
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//	exec, err := graph.NewExec(b.Compute, ...)
//
// Two backends exist; ONNX Runtime, which [OpenRuntime] opens, computes networks from ONNX files and nothing else.
// The Go backend is part of this program and always works. XLA is loaded at run time from a PJRT
// plugin, a shared library for one kind of device: [List] shows the plugins of this machine, which may have come with
// GoMLX or with a JAX installation, and [Install] fetches one. Nothing else here touches the network.
//
// A plugin is first tried in a copy of this program, where it may crash. That happens before main, in any program that
// imports this package, if the environment variable LEDG_ENGINE_PROBE is set. LEDG_PLUGIN_STDERR shows what the plugin
// says there.
//
// # Equal bytes
//
// A run is a function of its config and its images. Repeated, killed and resumed, beside others or with any number of
// workers, it ends with the same bytes, times apart, as long as the engine that result.json names is the same: versions
// of ledg, Go, GoMLX and compute; the backend, and its plugin by digest, PJRT and XLA_FLAGS; tf32; and what kernels are
// chosen by, the CPU's vector instructions or the GPU. The number of threads need not be the same. Two machines, builds
// or plugins compute the same bytes if they print the same digest here, which is that of all weights after some steps:
//
//	go run ./scripts/bench --backend go --net resnet18 --width 16 --size 64 --steps 1 --json
//
// So it was measured, on smallcnn of width 64 at 32 pixels and ResNet-18 of width 16 and 64 at 64 pixels (three steps):
//
//	go        equal: GOMAXPROCS 1, 2, 3, 4 and 8, one core or two, ops_sequential
//	          other: AVX2 in place of AVX-512 (GOMLX_GO_SIMD_AVX512=0), a build without GOEXPERIMENT=simd, arm64
//	xla:cpu   equal: one core or two, GOMAXPROCS 1 and 2, another of the plugin's devices, xla_cpu_max_isa=AVX2
//	          other: each of the three plugins that "ledg backend install cpu" knows
//
// and tests hold runs to it: on Go, killed at many places and with many workers; on XLA for the CPU, killed, side by
// side on four devices, its plugin deleted meanwhile, and in bfloat16. Between go and xla, and between plugins, results
// agree within rounding alone. Not measured: processors that differ in more than their vector instructions, more than
// two threads of XLA, and GPUs, on which XLA does not promise as much (its flag xla_gpu_deterministic_ops asks for it).
//
// # On a GPU
//
// On a Linux machine with Go, a C compiler and an NVIDIA driver, JAX's plugin is enough:
//
//	python3 -m venv venv && . venv/bin/activate
//	pip install "jax[cuda13]"         # cuda12 for a driver before 580
//	./scripts/gpu_check.sh            # some minutes; --quick without timing
//
// gpu_check.sh is the first thing to run: it opens the plugin, holds the networks and losses against their reference
// numbers on the device, times training steps, and prints a short report. The plugin and NVIDIA's libraries of the
// active Python environment (VIRTUAL_ENV, CONDA_PREFIX, or the python3 in PATH) are found by themselves. For any other
// plugin name the file, xla:/path/to/plugin.so, with LD_LIBRARY_PATH set if the libraries are not in nvidia/ beside it.
// Without JAX, "ledg backend install cuda" asks and then downloads a plugin and NVIDIA's libraries (2 to 3 GB) into
// ~/.local/lib/go-xla; they go before JAX's. "ledg backend install cpu" fetches the plugin for a CPU there: one pinned
// file from the package index that pip is configured for.
//
// For a GPU machine without Go, build on another of the same architecture. The program needs nothing there but the C
// library, no older than where it was built, and a plugin:
//
//	./scripts/gpu_check.sh --bundle gpu && scp gpu.tar.gz HOST:   # ledg, the tests, the script
//	ssh HOST
//	tar xzf gpu.tar.gz && gpu/gpu_check.sh && gpu/ledg train --backend xla:cuda ...
//
// Built with CGO_ENABLED=0 or -tags noxla, the program has Go alone, and ONNX Runtime but on Linux without cgo.
//
//   - Precision is tf32 (XLA's own on NVIDIA), float32, or bfloat16: convolutions in bfloat16; weights, BatchNorm,
//     losses and SGD in float32. It is part of a run's config; its result lists the engines that computed the epochs.
//   - The GPU's memory grows as needed: xla:cuda,preallocate takes it at once, xla:cuda,memory_fraction=0.9 limits it.
//   - Graphs are compiled once, before the first epoch. A step brings back its losses and the unlabelled images'
//     pseudo-labels, which the records need, and nothing else.
//   - With the setting network.devices (--devices), a step is divided among so many devices of the plugin: each has all
//     weights and a part of the images, and sums over the batch, BatchNorm's and the gradients', are over all. It is part
//     of a run's config, as another number rounds otherwise; predictions are made on the first device.
//   - Images go to the device as bytes, the next batch while a step computes, and are normalised in the graph.
package engine
