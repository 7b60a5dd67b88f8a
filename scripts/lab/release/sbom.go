package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"time"

	"encoding/base64"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// sbom lists the modules that are linked into a binary, with the sums that go.sum has of them,
// as CycloneDX 1.5 in JSON.
func sbom(version string, b *buildinfo.BuildInfo, at time.Time) ([]byte, error) {
	url := func(path, version string) string { return "pkg:golang/" + path + "@" + version }
	main := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, Name: b.Main.Path, Version: version,
		PackageURL: url(b.Main.Path, "v"+version), BOMRef: url(b.Main.Path, "v"+version),
	}
	parts := []cyclonedx.Component{{Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: b.GoVersion, PackageURL: url("std", b.GoVersion), BOMRef: url("std", b.GoVersion)}}
	for _, d := range b.Deps {
		c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: d.Path, Version: d.Version, PackageURL: url(d.Path, d.Version), BOMRef: url(d.Path, d.Version)}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(d.Sum, "h1:"))
		if err != nil || len(sum) == 0 {
			return nil, fmt.Errorf("%s %s has the sum %q", d.Path, d.Version, d.Sum)
		}
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		parts = append(parts, c)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: at.UTC().Format(time.RFC3339), Component: &main}
	bom.Components = &parts
	var out bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_5)
	return out.Bytes(), err
}
