package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/ledg-go/ledg/internal/fatal"
	"github.com/ledg-go/ledg/internal/testall"
)

// All packages are right on every platform of a release, without cgo, and on Linux also without
// vectors: their types, most of the errors of a compiler, in a fraction of the build time.
func TestPlatforms(t *testing.T) {
	testall.Need(t, "all packages for all platforms take a minute of one core")
	for _, p := range platforms {
		experiment := "simd"
		if p.kind == static { // whose packages are those of the other binary
			experiment = "nosimd"
		}
		t.Run(p.os+"/"+p.arch+"/"+experiment, func(t *testing.T) {
			all := fatal.Get(packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule,
				Dir: "../../..",
				Env: append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOEXPERIMENT="+experiment, "CGO_ENABLED=0"),
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
