package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A Camtrap DP package is read by its observations or by its datapackage.json: photos, classes,
// sites and events from three tables. Photos with several species have no class.
func TestCamtrap(t *testing.T) {
	t.Parallel()
	root := onDisk(t, pictures(t, "media/e/1.png", "media/e/2.png", "media/w/1.png", "media/w/2.png"))
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(root, name)
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	const head = "observationID,mediaID,eventID,observationLevel,observationType,scientificName\n"
	observations := write("observations.csv", head+"1,a,ev,media,animal,Vulpes vulpes\n2,b,ev,media,blank,\n3,c,ew,media,animal,Vulpes vulpes\n4,c,ew,media,animal,Capreolus capreolus\n5,,ew,event,animal,Vulpes vulpes\n6,d,,media,unclassified,NA\n")
	fatal.Says(t, fatal.Err(ReadTable(observations, ColumnNames{})), "media.csv")
	write("media.csv", "mediaID,deploymentID,filePath,fileName,fileMediatype\na,d1,media/e/1.png,1.png,image/png\nb,d1,media/e/2.png,2.png,image/png\nc,d2,media/w/1.png,1.png,image/png\nd,d2,media/w/2.png,2.png,image/png\nv,d2,media/w/3.mp4,3.mp4,video/mp4\n")
	write("deployments.csv", "deploymentID,locationID,locationName\nd1,,East\nd2,west,West\n")
	for _, path := range []string{observations, write("datapackage.json", `{"profile":"x/camtrap-dp-profile.json","resources":[{"name":"observations","path":"observations.csv"},{"name":"media","path":["media.csv"]}]}`)} {
		table := fatal.Get(ReadTable(path, ColumnNames{}))(t)
		d, truth := fatal.Get2(Open("folder", filepath.Join(root, "media"), Options{Labels: table.Labels, Layout: "**/{name}"}))(t)
		want := []string{"e/1.png East Vulpes vulpes train", "e/2.png East blank train", "w/1.png west ? train", "w/2.png west ? train"}
		if got := describe(d, truth); !slices.Equal(got, want) || d.Groups[0] != d.Groups[1] || len(d.Notes) != 0 {
			t.Errorf("%q, groups %v, notes %q, want %q", got, d.Groups, d.Notes, want)
		}
		if !strings.Contains(table.Note, "1 image with several species has no class; 1 observation of events") {
			t.Errorf("note %q", table.Note)
		}
	}
	// Observations of events alone are of the photos of a deployment at that time; several species have no class.
	events := "observationID,deploymentID,mediaID,eventID,eventStart,eventEnd,observationType,scientificName\n1,d1,,e1,2026-05-01T10:00:00Z,2026-05-01T10:00:09Z,animal,Vulpes vulpes\n" +
		"2,d1,,e1,2026-05-01T10:00:00Z,2026-05-01T10:00:09Z,animal,Vulpes vulpes\n3,d1,,e2,2026-05-01T11:00:00Z,2026-05-01T11:00:00Z,blank,\n4,d1,,e2,2026-05-01T11:00:00Z,2026-05-01T11:00:00Z,animal,Vulpes vulpes\n"
	write("media.csv", "mediaID,deploymentID,timestamp,filePath,fileMediatype,eventID\na,d1,2026-05-01T10:00:09Z,1.png,image/png,\nb,d1,2026-05-01T11:00:00Z,2.png,image/png,\nc,d1,2026-05-01T12:00:00Z,3.png,image/png,own\nd,d2,2026-05-01T10:00:05Z,4.png,image/png,\n")
	table := fatal.Get(ReadTable(write("observations.csv", events), ColumnNames{}))(t)
	var got []string
	for _, l := range table.Labels {
		got = append(got, filepath.Base(l.ID)+" "+l.Class+" "+l.Group)
	}
	if want := []string{"1.png Vulpes vulpes e1", "2.png  e2", "3.png  own", "4.png  "}; !slices.Equal(got, want) || !strings.Contains(table.Note, "2 images have the class") {
		t.Errorf("%q, want %q; note %q", got, want, table.Note)
	}
	_, err := ReadTable(write("observations.csv", head+"5,,ew,event,animal,Vulpes vulpes\n"), ColumnNames{})
	wantError(t, err, "of events, without a mediaID")
}
