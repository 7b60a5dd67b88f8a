package notebooks

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// The Python notebooks show what is stored, with the package of the wheel and the command of this checkout.
func TestPython(t *testing.T) {
	testall.Need(t, "a Python kernel executes notebooks for a minute")
	python := cmp.Or(os.Getenv("LEDG_TEST_PYTHON"), "python3")
	for _, need := range [][]string{{python, "-c", "import ipykernel, numpy"}, {"jupyter", "nbconvert", "--version"}} {
		if err := exec.Command(need[0], need[1:]...).Run(); err != nil {
			t.Skipf("%s: %v; LEDG_TEST_PYTHON can name a Python with ipykernel and numpy", strings.Join(need, " "), err)
		}
	}
	ledg := filepath.Join(t.TempDir(), "ledg")
	if out, err := exec.Command("go", "build", "-o", ledg, "../scripts/ledg").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kernel := filepath.Join(t.TempDir(), "kernels", "python3")
	fatal.If(t, os.MkdirAll(kernel, 0o777))
	spec := `{"argv": ["` + python + `", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3", "language": "python"}`
	fatal.If(t, os.WriteFile(filepath.Join(kernel, "kernel.json"), []byte(spec), 0o666))
	for _, file := range inPython {
		data := fatal.Get(os.ReadFile(file))(t)
		now, stored := executeWith(t, data, "LEDG_BINARY="+ledg, "PYTHONPATH="+fatal.Get(filepath.Abs("../scripts/release/python"))(t),
			"JUPYTER_PATH="+filepath.Dir(filepath.Dir(kernel))), parse(t, data)
		for _, p := range now.problems() {
			t.Error(p)
		}
		for i, c := range stored.Cells {
			if strings.Join(outputs(c), "") != "" && runtime.GOARCH == "amd64" { // where it was executed
				compare(t, file, i, now, stored)
			}
		}
	}
}
