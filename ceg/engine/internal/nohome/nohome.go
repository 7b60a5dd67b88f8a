// Package nohome keeps go-xla quiet where the environment has no home folder. Its package pjrt
// looks for plugins in the home folder when it is initialised, and writes a line to standard
// error if there is none. Go initialises packages in the order of their import paths as soon as
// their imports are: this one before k8s.io/klog, on which pjrt depends.
package nohome

import "os"

const variable = "HOME"

var was, there = os.LookupEnv(variable)

func init() {
	if was == "" {
		os.Setenv(variable, os.DevNull) // has no plugins
	}
}

// Restore restores the environment. A package that imports pjrt calls it in a function named init.
func Restore() {
	switch {
	case !there:
		os.Unsetenv(variable)
	case was == "":
		os.Setenv(variable, "")
	}
}
