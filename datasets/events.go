package datasets

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"time"
)

// numbered is a folder that a camera begins when one is full, such as DCIM/100RECNX, by the DCF standard.
var numbered = regexp.MustCompile(`(^|/)[1-9]\d\d([A-Z_][A-Z0-9_]{4})$`)

// Camera returns the camera of a photo, which is its folder. Folders that differ in a DCF number alone,
// 100RECNX and 101RECNX, are one camera, RECNX.
func Camera(id string) string { return numbered.ReplaceAllString(path.Dir(id), "$1$2") }

// Events returns the event of each photo, empty for one without a time: photos of a camera, see Camera,
// with gaps of at most gap between them. An event is called after its folder and its first time. notes say in a
// line each how many there are, and which clocks jump or stand at their beginning.
func Events(ids []string, times []time.Time, gap time.Duration) (events []string, notes []string) {
	cameras := make(map[string][]int)
	var order []string
	untimed := 0
	for i, id := range ids {
		if times[i].IsZero() {
			untimed++
			continue
		}
		name := Camera(id)
		if cameras[name] == nil {
			order = append(order, name)
		}
		cameras[name] = append(cameras[name], i)
	}
	slices.Sort(order)
	events = make([]string, len(ids))
	n, longest := 0, 0
	var clocks []string
	for _, name := range order {
		list := cameras[name]
		clocks = append(clocks, clock(name, ids, times, list)...)
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Or(times[a].Compare(times[b]), cmp.Compare(ids[a], ids[b]))
		})
		in := 0
		for k, i := range list {
			if k == 0 || times[i].Sub(times[list[k-1]]) > gap {
				n, in = n+1, 0
				events[i] = path.Join(path.Dir(ids[i]), times[i].Format("2006-01-02T15-04-05"))
			} else {
				events[i] = events[list[k-1]]
			}
			in++
			longest = max(longest, in)
		}
	}
	notes = append(notes, fmt.Sprintf("%s of %s with gaps of at most %v in a folder, at most %d in one", plural(n, "event"), plural(len(ids)-untimed, "image"), gap, longest))
	if untimed > 0 {
		notes[0] += fmt.Sprintf("; %s without a time in EXIF, a table or the name %s in no event", plural(untimed, "image"), verb(untimed, "is", "are"))
	}
	return events, append(notes, clocks...)
}

// Clocks are wrong before firstYear, where some stand after a loss of power, and where the files' order and
// their times differ by more than jump, or times by more than aYear.
const (
	firstYear = 1990
	jump      = time.Hour
	aYear     = 366 * 24 * time.Hour
)

// clock describes what is wrong with the clock of a camera whose photos are list, in the order of names.
func clock(dir string, ids []string, times []time.Time, list []int) (notes []string) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	unset, jumps, at := 0, 0, 0
	for k, i := range list {
		if times[i].Year() < firstYear {
			unset++
		}
		if k == 0 {
			continue
		}
		if d := times[i].Sub(times[list[k-1]]); d < -jump || d > aYear {
			if jumps++; jumps == 1 {
				at = k
			}
		}
	}
	if unset > 0 {
		notes = append(notes, fmt.Sprintf("the clock of %s was not set: %d of %s are of years before %d", printable(dir), unset, plural(len(list), "image"), firstYear))
	}
	if jumps > 0 {
		a, b := list[at-1], list[at]
		notes = append(notes, fmt.Sprintf("the clock of %s jumps %s, first from %s (%s) to %s (%s)", printable(dir), plural(jumps, "time"),
			times[a].Format(time.DateTime), path.Base(ids[a]), times[b].Format(time.DateTime), path.Base(ids[b])))
	}
	return notes
}
