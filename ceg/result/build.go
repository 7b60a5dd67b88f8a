package result

import "runtime/debug"

// Build returns the commit that this program was built from, and whether its files
// differed from it. The commit is empty if the build does not say, as those of go run, go
// test and -buildvcs=false do not.
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

// Revision is the commit in twelve digits, with a mark if files differed from it; empty if
// it is not known.
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

// DirtyMark ends a revision whose files differed from its commit.
const DirtyMark = "+dirty"

// Revisions are those of the programs that computed a finished run, in order, each once;
// none of a run that older versions made.
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
