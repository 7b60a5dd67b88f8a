// Package engine opens the compute backend: [Open] takes "auto", "go", "xla:cuda" and so on.
// Pass Backend.Compute to GoMLX, show Backend.Description once, and Close the backend at the
// end:
//
//	b, err := engine.Open("auto")
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//	exec, err := graph.NewExec(b.Compute, ...)
//
// There are two backends for training and prediction. The Go backend is part of this program and
// always works. XLA is loaded at run time from a PJRT plugin, a shared library for one kind of
// device: [List] shows the plugins of this machine, GoMLX's and JAX's. In addition, [OpenRuntime]
// opens ONNX Runtime, which only computes networks from ONNX files. [Install] downloads it, or the
// plugin for the CPU; no other function uses the network.
//
// A plugin is first tried in a child process (package child), since it may crash. The environment
// variable LEDG_PLUGIN_STDERR shows its messages.
//
// # Determinism
//
// A run is a function of its config and its images. Repeated, or killed and resumed, on a busy
// machine, with any number of workers, it gives the same bytes except times, on the same engine.
// result.json names the engine: versions of ledg, Go, GoMLX and compute; the backend, with the
// plugin's digest, PJRT version and XLA_FLAGS; tf32; and the CPU's vector instructions or the
// GPU, which select the kernels. The number of threads may differ. To compare two machines,
// builds or plugins, compare the digest of the weights that this prints:
//
//	go run -C scripts/lab ./bench --backend go --net resnet18 --width 16 --size 64 --steps 1
//
// Measured on smallcnn of width 64 at 32 pixels and ResNet-18 of width 16 and 64 at 64 pixels
// (three steps):
//
//	go        equal: GOMAXPROCS 1, 2, 3, 4 and 8, one core or two, ops_sequential
//	          other: AVX2 in place of AVX-512 (GOMLX_GO_SIMD_AVX512=0), a build without GOEXPERIMENT=simd, arm64
//	xla:cpu   equal: one core or two, GOMAXPROCS 1 and 2, xla_cpu_max_isa=AVX2
//	          other: another build of the plugin
//
// Tests check this: on Go, with runs killed at many places and many workers; on XLA for the CPU,
// with runs killed, with the plugin deleted meanwhile, and in
// bfloat16. Results of go and xla, and of different plugins, agree only up to rounding. Not
// measured: processors that differ in more than their vector instructions, and more than two
// threads of XLA.
//
// On GPUs XLA is deterministic only with XLA_FLAGS=--xla_gpu_deterministic_ops=true. On an H200
// a repeated run, and one that was killed and resumed, then had the same weights (n = 1), and a
// step took 1.5 to 1.8 times as long. With this flag one test failed there: some gradients of
// ResNet-50 (width 64, 64 pixels, eval mode) differed from PyTorch's by up to 0.8%, where 0.1% is
// allowed. On CPUs a value of these images is at a ReLU's kink, which may be the cause. The test has
// other images since, and was not repeated there.
//
// # On a GPU
//
// On a Linux machine with Go, a C compiler and an NVIDIA driver, JAX's plugin is enough:
//
//	python3 -m venv venv && . venv/bin/activate
//	pip install "jax[cuda13]"         # cuda12 for a driver before 580
//	./scripts/gpu_check.sh            # some minutes; --quick without timing
//
// It was tried on an NVIDIA H200. Run gpu_check.sh first: it opens the plugin, compares networks
// and losses with reference values on the device, times training steps, and prints a short
// report. ledg finds the plugin and NVIDIA's libraries of the active Python environment
// (VIRTUAL_ENV, CONDA_PREFIX, or the python3 in PATH). For any other plugin give the file,
// xla:/path/to/plugin.so, and set LD_LIBRARY_PATH if the libraries are not in nvidia/ beside it.
// Plugins in ~/.local/lib/go-xla, where go-xla's installer puts them, precede JAX's; "ledg backend
// install cpu" has it fetch the one for a CPU.
//
// For a GPU machine without Go, build on another machine of the same architecture. The program
// then needs a C library at least as new as the build machine's, and a plugin:
//
//	./scripts/gpu_check.sh --bundle gpu && scp gpu.tar.gz HOST:   # ledg, the tests, the script
//	ssh HOST
//	tar xzf gpu.tar.gz && gpu/gpu_check.sh && gpu/ledg train --backend xla:cuda ...
//
// A build with CGO_ENABLED=0 or -tags noxla has only the Go backend, and ONNX Runtime except on
// Linux without cgo.
//
//   - Precision is tf32 (XLA's default on NVIDIA), float32, or bfloat16: convolutions in bfloat16; weights, BatchNorm,
//     losses and SGD in float32. It is part of a run's config; its result lists the engines that computed the epochs.
//   - The GPU's memory grows as needed: xla:cuda,preallocate allocates it at once, xla:cuda,memory_fraction=0.9 limits it.
//   - Graphs are compiled once, before the first epoch. A step copies only its losses and the unlabelled images'
//     pseudo-labels back, for the records.
//   - Images are copied to the device as bytes, the next batch during a step, and are normalised in the graph.
package engine
