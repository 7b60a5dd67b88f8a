// Package child runs work in a child process, another copy of this program, that may crash, use
// too much memory or never end. A package registers a service, methods in the form of net/rpc:
//
//	func init() { child.Serve("squares", squares{}) }
//
// and calls it:
//
//	p, err := child.Start(ctx, "squares", 1<<30)
//	defer p.Close()
//	err = p.Call("Square", 8*time.Second, 7, &result)
//
// The child serves before main, in any program that imports the package, if the environment
// variable LEDG_CHILD is set, so users of the library need no code for it. [ErrCannot] is the
// error of programs that cannot start themselves again: their file is not executable, or the
// child does not respond.
//
// On Linux the kernel limits the child's memory (RLIMIT_DATA); on other systems only its time is
// limited. This is no protection from an attacker's code in the child.
package child
