// Command release makes what a release consists of from binaries that are built already:
// archives, wheels for pip, a list of the modules that are linked, and the sums of all of it.
// Nothing is uploaded, and what it writes depends on the binaries and its flags alone.
// scripts/release.sh builds the binaries and calls it; scripts/release has the Python module and the
// changelog.
//
//	go run -C scripts/lab ./release --version 0.1.0 --binaries BUILT --time 1763856000 --out dist
//
// BUILT has ledg_GOOS_GOARCH files, with .exe on Windows, of the platforms in [platforms], and for Linux also
// ledg_linux_GOARCH_static.
package main
