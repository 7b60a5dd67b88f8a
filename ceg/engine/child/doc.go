// Package child does work in a copy of this program that may crash, take too much memory or never end. A package makes
// a service, methods as net/rpc wants them, available in copies:
//
//	func init() { child.Serve("squares", squares{}) }
//
// and calls it:
//
//	p, err := child.Start(ctx, "squares", 1<<30)
//	defer p.Close()
//	err = p.Call("Square", 8*time.Second, 7, &result)
//
// The copy serves before main, in any program that imports the package, if the environment variable LEDG_CHILD is set.
// So a library's users need not do anything. [ErrCannot] is for programs that cannot be started again: their file cannot
// be executed, or the copy does not answer.
//
// On Linux the kernel limits the copy's memory (RLIMIT_DATA); on other systems its time alone is limited. It is no
// protection from code that an attacker runs in the copy.
package child
