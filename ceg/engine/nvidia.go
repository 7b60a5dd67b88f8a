package engine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nvidiaFolder returns the folder of NVIDIA's libraries that came with the CUDA plugin at path, or "". The libraries
// lie in nvidia/*/lib of a Python installation (plugin in jax_plugins/xla_cuda13/), and of go-xla's (plugin in nvidia/).
func nvidiaFolder(path string) string {
	dir := filepath.Dir(path)
	for _, candidate := range []string{
		filepath.Join(dir, "..", "..", "nvidia"),
		filepath.Join(dir, "..", "nvidia"),
		filepath.Join(dir, "nvidia"),
	} {
		if libs, _ := filepath.Glob(filepath.Join(candidate, "*", "lib")); len(libs) > 0 {
			return filepath.Clean(candidate)
		}
	}
	return ""
}

// nvidiaLibraries are the libraries that XLA's CUDA plugin opens by name, each after those it needs itself.
//
// The order is that of JAX's own loader (jax_plugins/cuda/__init__.py, _load_nvidia_libraries), plus nvJitLink.
var nvidiaLibraries = []string{
	"libcudart.so.*", "libnvrtc.so.*", "libnvJitLink.so.*", "libcublasLt.so.*", "libcublas.so.*", "libnccl.so.*",
	"libcupti.so.*", "libcusparse.so.*", "libcusolver.so.*", "libcufft.so.*", "libnvshmem_host.so.*", "libcudnn.so.*",
}

// preloads returns the NVIDIA libraries to load before the plugin, in order.
//
// The loader reads LD_LIBRARY_PATH only when a process starts, so a program cannot add folders for
// itself; but a library that is already loaded is found by its name. Loading them by path first
// therefore makes a plugin work wherever its libraries are, without any variable set, and is what
// JAX does. CUDA 12 and 13 can be installed side by side with libraries of equal names, so only
// libraries of the plugin's CUDA version are used.
func (p Plugin) preloads() []string {
	if p.NVIDIA == "" {
		return nil
	}
	dirs, _ := filepath.Glob(filepath.Join(p.NVIDIA, "*", "lib"))
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		switch filepath.Base(filepath.Dir(dir)) {
		case "cudnn", "nccl", "nvshmem", "cusparselt": // one folder for all versions
			return false
		case "cu13":
			return strings.HasSuffix(p.Name, "12")
		}
		return strings.HasSuffix(p.Name, "13")
	})
	var libs []string
	for _, pattern := range nvidiaLibraries {
		for _, dir := range dirs {
			found, _ := filepath.Glob(filepath.Join(dir, pattern))
			libs = append(libs, found...)
		}
	}
	return libs
}

// cudaDataDir returns the folder in which XLA finds libdevice and ptxas (its flag
// --xla_gpu_cuda_data_dir): from the plugin's own CUDA, or else from CUDA_HOME or CUDA_PATH. ""
// leaves it to XLA, which also looks in /usr/local/cuda.
func (p Plugin) cudaDataDir() string {
	var dirs []string
	if p.NVIDIA != "" {
		own := []string{"cu13", "cuda_nvcc", "."}
		if strings.HasSuffix(p.Name, "12") {
			own = []string{"cuda_nvcc", "cu13", "."}
		}
		for _, d := range own {
			dirs = append(dirs, filepath.Join(p.NVIDIA, d))
		}
	}
	dirs = append(dirs, os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"))
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		for _, file := range []string{"nvvm/libdevice/libdevice.10.bc", "bin/ptxas"} {
			if exists(filepath.Join(dir, file)) {
				return dir
			}
		}
	}
	return ""
}

// hasNVIDIA reports whether this machine shows an NVIDIA GPU: a device node of its driver, or of WSL's. Below root,
// which is "" except in tests.
func hasNVIDIA(root string) bool {
	return slices.ContainsFunc([]string{"/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/dxg"}, func(pattern string) bool {
		found, _ := filepath.Glob(root + pattern)
		return len(found) > 0
	})
}

// nameGPUs adds names and memory from nvidia-smi to the CUDA devices, if it is installed and the
// devices can be matched; PJRT calls them "CudaDevice(id=0)".
func nameGPUs(devices []Device) []Device {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return devices
	}
	return matchGPUs(devices, string(out))
}

// matchGPUs reads nvidia-smi's lines "NVIDIA H200, 143771" (MiB). Where some GPUs are hidden from CUDA, only equal ones
// are certain.
func matchGPUs(devices []Device, csv string) []Device {
	var gpus []Device
	for line := range strings.Lines(csv) {
		name, memory, ok := strings.Cut(strings.TrimSpace(line), ",")
		if !ok {
			continue
		}
		mib, _ := strconv.ParseInt(strings.TrimSpace(memory), 10, 64)
		gpus = append(gpus, Device{Name: strings.TrimSpace(name), MemoryBytes: mib << 20})
	}
	if len(gpus) != len(devices) {
		gpus = slices.Compact(gpus)
		if len(gpus) != 1 {
			return devices
		}
		gpus = slices.Repeat(gpus, len(devices))
	}
	return gpus
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
