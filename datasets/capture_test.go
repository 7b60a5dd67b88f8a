package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Times come from a table or names, and the events of a Camtrap DP package are used as they are.
func TestCaptureFind(t *testing.T) {
	root := t.TempDir()
	fatal.If(t, os.Mkdir(filepath.Join(root, "c"), 0o777))
	ids := []string{"c/IMG_20260501_100000.jpg", "c/b.jpg", "c/d.jpg"}
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	for _, id := range ids {
		write(id, "no picture")
	}
	times := write("times.csv", "path,timestamp\nc/b.jpg,2026-05-01 10:00:30\nc/d.jpg,2026-05-01 10:05:00\n")
	own := write("own.csv", "key,date_captured\nc/b.jpg,2026:05:01 10:00:30\n")
	write("media.csv", "mediaID,deploymentID,timestamp,filePath,fileMediatype\n1,x,2026-05-01T12:00:00+02:00,c/b.jpg,image/jpeg\n2,x,,c/d.jpg,image/jpeg\n")
	observations := write("observations.csv", "observationID,deploymentID,mediaID,eventID,observationType,scientificName\n1,x,1,night,animal,Vulpes vulpes\n2,x,2,night,blank,\n")
	first, second := "c/2026-05-01T10-00-00", "c/2026-05-01T10-05-00"
	for name, c := range map[string]struct {
		Capture
		events []string
		times  int
	}{
		"nothing":  {Capture{}, nil, 1},
		"names":    {Capture{Gap: time.Minute}, []string{first, "", ""}, 1},
		"a table":  {Capture{Gap: time.Minute, Table: times}, []string{first, first, second}, 3},
		"a column": {Capture{Gap: time.Minute, Table: own, ID: "key"}, []string{first, first, ""}, 2},
		"Camtrap":  {Capture{Table: observations}, []string{"", "night", "night"}, 2},
		"its own":  {Capture{Gap: time.Minute, Table: observations}, []string{"", "night", "night"}, 2},
	} {
		found := fatal.Get(c.Find(t.Context(), root, nil))(t)
		var events []string
		for _, id := range ids {
			if found.Events != nil {
				events = append(events, found.Events[id])
			}
		}
		if !slices.Equal(found.IDs, ids) || !slices.Equal(events, c.events) || len(found.Times) != c.times || (c.events == nil) != (found.Notes == nil) {
			t.Errorf("%s: %q, %d times, %q; want %q and %d", name, events, len(found.Times), found.Notes, c.events, c.times)
		}
	}
	if _, err := (Capture{Table: own}).Find(t.Context(), root, nil); err == nil {
		t.Error("a table without a column of paths has times")
	}
	_, err := Capture{Table: write("other.csv", "path,timestamp\nx/1.jpg,2026-05-01 10:00:30\n")}.Find(t.Context(), root, nil)
	fatal.Says(t, err, "no image with a time in it is in ")
}
