package engine

import (
	"reflect"
	"strings"
	"testing"
)

func TestNVIDIALibraries(t *testing.T) {
	const site = "lib/python3.12/site-packages/"
	both := []string{
		site + "jax_plugins/xla_cuda12/xla_cuda_plugin.so", site + "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
		site + "nvidia/cu13/lib/libcublas.so.13", site + "nvidia/cu13/lib/libcublasLt.so.13", site + "nvidia/cu13/lib/libcusparse.so.12",
		site + "nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
		site + "nvidia/cublas/lib/libcublas.so.12", site + "nvidia/cusparse/lib/libcusparse.so.12",
		site + "nvidia/cuda_nvcc/bin/ptxas",
		site + "nvidia/cudnn/lib/libcudnn.so.9", site + "nvidia/cudnn/lib/libcudnn_ops.so.9", site + "nvidia/nccl/lib/libnccl.so.2",
	}
	for _, test := range []struct {
		name, plugin string
		files        []string
		preloads     []string
		dataDir      string
		cudaHome     string
	}{
		{
			name: "CUDA 13 beside CUDA 12", files: both, plugin: site + "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
			preloads: []string{
				site + "nvidia/cu13/lib/libcublasLt.so.13", site + "nvidia/cu13/lib/libcublas.so.13", site + "nvidia/nccl/lib/libnccl.so.2",
				site + "nvidia/cu13/lib/libcusparse.so.12", site + "nvidia/cudnn/lib/libcudnn.so.9",
			},
			dataDir: site + "nvidia/cu13",
		},
		{
			name: "CUDA 12 beside CUDA 13", files: both, plugin: site + "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
			preloads: []string{
				site + "nvidia/cublas/lib/libcublas.so.12", site + "nvidia/nccl/lib/libnccl.so.2",
				site + "nvidia/cusparse/lib/libcusparse.so.12", site + "nvidia/cudnn/lib/libcudnn.so.9",
			},
			dataDir: site + "nvidia/cuda_nvcc",
		},
		{
			name:     "go-xla's own folder",
			plugin:   "go-xla/nvidia/pjrt_c_api_cuda_plugin.so",
			files:    []string{"go-xla/nvidia/pjrt_c_api_cuda_plugin.so", "go-xla/nvidia/cudnn/lib/libcudnn.so.9", "go-xla/nvidia/bin/ptxas"},
			preloads: []string{"go-xla/nvidia/cudnn/lib/libcudnn.so.9"},
			dataDir:  "go-xla/nvidia",
		},
		{name: "libraries of the system", plugin: "opt/pjrt_c_api_cuda_plugin.so", files: []string{"opt/pjrt_c_api_cuda_plugin.so"}},
		{
			name: "toolkit of the system", plugin: "opt/pjrt_c_api_cuda_plugin.so",
			files:    []string{"opt/pjrt_c_api_cuda_plugin.so", "cuda-13/nvvm/libdevice/libdevice.10.bc"},
			cudaHome: "cuda-13", dataDir: "cuda-13",
		},
		{name: "no toolkit there", plugin: "opt/pjrt_c_api_cuda_plugin.so", files: []string{"opt/pjrt_c_api_cuda_plugin.so"}, cudaHome: "gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files...)
			t.Setenv("CUDA_PATH", "")
			t.Setenv("CUDA_HOME", "")
			if test.cudaHome != "" {
				t.Setenv("CUDA_HOME", root+"/"+test.cudaHome)
			}
			p := pluginAt(root+"/"+test.plugin, "")
			var preloads []string
			for _, lib := range p.preloads() {
				preloads = append(preloads, strings.TrimPrefix(lib, root+"/"))
			}
			if !reflect.DeepEqual(preloads, test.preloads) {
				t.Errorf("preloads\n%s\nwant\n%s", strings.Join(preloads, "\n"), strings.Join(test.preloads, "\n"))
			}
			if got := strings.TrimPrefix(p.cudaDataDir(), root+"/"); got != test.dataDir {
				t.Errorf("CUDA data folder %q, want %q", got, test.dataDir)
			}
		})
	}
}

func TestMatchGPUs(t *testing.T) {
	const mib = 1 << 20
	two := []Device{{Name: "CudaDevice(id=0)"}, {Name: "CudaDevice(id=1)"}}
	for _, test := range []struct {
		name, csv string
		in, want  []Device
	}{
		{"as many", "NVIDIA H200, 143771\nNVIDIA L4, 23034\n", two, []Device{{"NVIDIA H200", 143771 * mib}, {"NVIDIA L4", 23034 * mib}}},
		{"one of equal ones", "NVIDIA L4, 23034\nNVIDIA L4, 23034\n", two[:1], []Device{{"NVIDIA L4", 23034 * mib}}},
		{"one of different ones", "NVIDIA H200, 143771\nNVIDIA L4, 23034\n", two[:1], two[:1]},
		{"nothing said", "", two, two},
		{"memory unknown", "NVIDIA GB10, [N/A]\n", two[:1], []Device{{"NVIDIA GB10", 0}}},
	} {
		if got := matchGPUs(test.in, test.csv); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
