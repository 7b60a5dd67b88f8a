package result

import "runtime/debug"

// Build returns the commit that this program was built from, and whether files differed from it.
// The commit is empty for builds without it: go run, go test and -buildvcs=false.
func Build() (commit string, dirty bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	return commit, dirty
}

// Revision returns the first twelve digits of a commit, with DirtyMark if files differed from
// it; empty if unknown.
func Revision(commit string, dirty bool) string {
	if commit == "" {
		return ""
	}
	text := commit[:min(12, len(commit))]
	if dirty {
		text += DirtyMark
	}
	return text
}

// DirtyMark is the suffix of a revision whose files differed from its commit.
const DirtyMark = "+dirty"

// Revisions returns the distinct revisions of ledg that computed a finished run, in order; none
// for runs of older versions.
func (r Result) Revisions() []string {
	var list []string
	add := func(revision string) {
		if revision != "" && (len(list) == 0 || list[len(list)-1] != revision) {
			list = append(list, revision)
		}
	}
	for _, e := range r.Engines {
		add(e.Revision)
	}
	add(Revision(r.Versions.Commit, r.Versions.Dirty))
	return list
}
