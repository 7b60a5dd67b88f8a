package release

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// All packages are right on every platform of a release, without cgo, and on Linux also without
// vectors: their types, most of the errors of a compiler, in a fraction of the build time.
func TestPlatforms(t *testing.T) {
	testall.Need(t, "all packages for all platforms take a minute of one core")
	for _, platform := range []string{"linux/amd64/simd", "linux/arm64/simd", "linux/amd64/nosimd", "linux/arm64/nosimd", "darwin/arm64/simd",
		"darwin/amd64/simd", "windows/amd64/simd", "windows/arm64/simd"} {
		p := strings.Split(platform, "/")
		t.Run(platform, func(t *testing.T) {
			all := fatal.Get(packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule,
				Dir: "../../..",
				Env: append(os.Environ(), "GOOS="+p[0], "GOARCH="+p[1], "GOEXPERIMENT="+p[2], "CGO_ENABLED=0"),
				ParseFile: func(set *token.FileSet, name string, src []byte) (*ast.File, error) {
					return parser.ParseFile(set, name, src, parser.SkipObjectResolution)
				},
			}, "./..."))(t)
			if len(all) < 60 {
				t.Errorf("%d packages", len(all))
			}
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}
