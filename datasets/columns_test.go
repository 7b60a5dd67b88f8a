package datasets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// labelled returns the labels of a table as "id=class@site#group/split".
func labelled(t *testing.T, name, text string, names ColumnNames) (got, note string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
	table, err := ReadTable(path, names)
	var rows []string
	for _, l := range table.Labels {
		row := l.ID + "=" + l.Class
		for _, more := range [][2]string{{"@", l.Site}, {"#", l.Group}, {"/", l.Split}} {
			if more[1] != "" {
				row += more[0] + more[1]
			}
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, " "), table.Note, err
}

// Tables as people have them are read by the columns that they mean, and the note names those that
// are not used.
func TestReadColumns(t *testing.T) {
	t.Parallel()
	class := func(name string) ColumnNames { return ColumnNames{Class: name} }
	for _, c := range []struct {
		name, text, want, note string
		names                  ColumnNames
	}{
		{"row numbers", "id,file,label\n1,4.png,deer\n2,3.png,fox\n", "4.png=deer 3.png=fox", "not used: id", ColumnNames{}},
		{"row numbers beside another name", "ID,picture,label\n1,4.png,deer\n2,3.png,fox\n", "4.png=deer 3.png=fox", "not used: ID", ColumnNames{}},
		{"numbers beside addresses", "id,url,label\n1,https://x/4.png,deer\n2,https://x/3.png,fox\n", "1=deer 2=fox", "not used: url", ColumnNames{}},
		{"ranks by their values", "path,class,species\n1.png,Mammalia,fox\n2.png,Aves,raven\n", "1.png=fox 2.png=raven", "class is a rank", ColumnNames{}},
		{"the highest ranks", "path,kingdom,class,taxon\n1.png,Animalia,Mammalia,fox\n2.png,Animalia,Aves,raven\n", "1.png=fox 2.png=raven", "class is a rank", ColumnNames{}},
		{"splits in another column", "path,label,set\n1.png,deer,train\n2.png,fox,TEST\n", "1.png=deer/train 2.png=fox/TEST", "splits from set", ColumnNames{}},
		{"a split that is none", "path,label,split\n1.png,deer,test\n2.png,fox,extra\n", "1.png=deer/test 2.png=fox/extra", "splits from split", ColumnNames{}},
		{"no splits in another column", "path,label,set\n1.png,deer,train\n2.png,fox,bus\n", "1.png=deer 2.png=fox", "not used: set", ColumnNames{}},
		{"not identified", "path,class,order,common_name\n1.png,No CV Result,No CV Result,No CV Result\n2.png,Aves,P,raven\n3.png,Aves,P,owl\n", "1.png=No CV Result 2.png=raven 3.png=owl", "classes from common_name", ColumnNames{}},
		{"numbers of pandas", "id,image,label\n1.0,a,deer\n2.0,b,fox\n", "a=deer b=fox", "images from image", ColumnNames{}},
		{"names of features", "id,label\n17,deer\n18,fox\n", "17=deer 18=fox", "images from id", ColumnNames{}},
		{"whole paths", "filename,filepath,label\n1.png,a/1.png,deer\n1.png,b/1.png,fox\n", "a/1.png=deer b/1.png=fox", "images from filepath", ColumnNames{}},
		{"Timelapse", "RootFolder,File,RelativePath,Species\nx,1.JPG,A\\100,deer\nx,2.JPG,,fox\n", "A/100/1.JPG=deer ./2.JPG=fox", "images from RelativePath + File", ColumnNames{}},
		{"two Timelapse folders", "RootFolder,File,RelativePath,Species\nx,1.JPG,A,deer\ny,1.JPG,A,fox\n", "x/A/1.JPG=deer y/A/1.JPG=fox", "images from RootFolder + RelativePath + File", ColumnNames{}},
		{"folder and file", "folder,file,label\na,1.png,deer\nb,1.png,fox\n", "a/1.png=deer b/1.png=fox", "images from folder + file", ColumnNames{}},
		{"times alone", "path,timestamp\n1.png,2026-05-01 10:00:00\n", "", "times from timestamp", ColumnNames{}},
		{"ranks", "path,class,order,genus,species,common_name\n1.png,Mammalia,C,Vulpes,vulpes,Red Fox\n2.png,Aves,P,Corvus,corax,Raven\n", "1.png=Red Fox 2.png=Raven", "classes from common_name (class is a rank of taxonomy); not used: genus, species, class, order;", ColumnNames{}},
		{"ranks without names", "path,class,order,genus,species\n1.png,Mammalia,C,Vulpes,vulpes\n2.png,Aves,P,Corvus,\n3.png,Aves,P,,\n", "1.png=Vulpes vulpes 2.png=Corvus", "classes from genus + species", ColumnNames{}},
		{"binomials beside a genus", "path,genus,species\n1.png,Vulpes,Vulpes vulpes\n2.png,Corvus,Corvus corax\n", "1.png=Vulpes vulpes 2.png=Corvus corax", "", ColumnNames{}},
		{"ranks alone", "path,class,order\n1.png,Mammalia,C\n2.png,Aves,P\n", "1.png=Mammalia 2.png=Aves", "class is a rank", ColumnNames{}},
		{"a label beside ranks", "path,label,class,family\n1.png,fox,Mammalia,C\n2.png,deer,Mammalia,D\n", "1.png=fox 2.png=deer", "classes from label", ColumnNames{}},
		{"not filled in", "path,class_name,species\n1.png,deer,x\n2.png,fox,x\n", "1.png=deer 2.png=fox", "not used: species; --class-column", ColumnNames{}},
		{"numbers of classes", "path,label,class_name\n1.png,0,deer\n2.png,1,fox\n", "1.png=deer 2.png=fox", "not used: label", ColumnNames{}},
		{"one of two chosen", "path,label,species\n1.png,deer,fox\n2.png,fox,fox\n3.png,fox,deer\n", "1.png=fox 2.png=fox 3.png=deer", "", class("Species")},
		{"the rank chosen", "path,class,order,common_name\n1.png,Mammalia,C,fox\n2.png,Aves,P,raven\n", "1.png=Mammalia 2.png=Aves", "", class("class")},
		{"other columns", "picture,what,where,shot\n1.png,fox,a,s1\n", "1.png=fox@a#s1", "", ColumnNames{"picture", "what", "where", "shot"}},
		{"missing values", "path,label,site,group\n1.png,NaN,a,NA\n2.png,N/A,None,g\n3.png,<NA>,-,null\n4.png,none,#N/A,nan\n", "1.png=NaN@a 2.png=#g 3.png=<NA> 4.png=none", "3 cells of site without a value, such as #N/A", ColumnNames{}},
		{"events", "path,class,eventID\na/1.png,deer,e1\na/2.png,deer,e1\nb/1.png,fox,e2\n", "a/1.png=deer#e1 a/2.png=deer#e1 b/1.png=fox#e2", "groups from eventID", ColumnNames{}},
		{"events numbered by site", "path,class,burst\na/1.png,deer,11\na/2.png,deer,11\nb/1.png,fox,11\nb/2.png,fox,12\n", "a/1.png=deer#a/11 a/2.png=deer#a/11 b/1.png=fox#b/11 b/2.png=fox#b/12", "groups from burst", ColumnNames{}},
		{"numbers of frames", "path,class,burst\n1.png,deer,1\n2.png,deer,2\n3.png,fox,1\n4.png,fox,2\n", "1.png=deer 2.png=deer 3.png=fox 4.png=fox", "not used: burst", ColumnNames{}},
		{"places are no events", "path,label,deployment_id\n1.png,deer,d1\n2.png,fox,d2\n", "1.png=deer 2.png=fox", "--site-column deployment_id", ColumnNames{}},
		{"splits", "path,label,split\n1.png,deer,train\n2.png,,test\n", "1.png=deer/train 2.png=/test", "splits from split", ColumnNames{}},
		{"no splits", "path,label,split\n1.png,deer,a\n2.png,fox,b\n", "1.png=deer 2.png=fox", "not used: split", ColumnNames{}},
	} {
		got, note, err := labelled(t, "a.csv", c.text, c.names)
		if err != nil || got != c.want || !strings.Contains(note, c.note) {
			t.Errorf("%s: %q, note %q, %v, want %q and %q", c.name, got, note, err, c.want, c.note)
		}
	}
	for _, c := range []struct {
		text, want string
		names      ColumnNames
	}{
		{"path,label\n1.png,fox\n", `a.csv:1: there is no column "kind"; the columns are ["path" "label"]`, class("kind")},
		{"path,label,species\n1.png,deer,fox\n2.png,fox,fox\n3.png,fox,deer\n", "columns label and species name the same classes and differ", ColumnNames{}},
	} {
		_, _, err := labelled(t, "a.csv", c.text, c.names)
		wantError(t, err, c.want)
	}
}

// Rows of photos that are not there are left out and counted, and missing values are no class unless
// there is a class of the name.
func TestLocate(t *testing.T) {
	t.Parallel()
	root := onDisk(t, pictures(t, "A/1.png", "A/2.png", "B/1.png", "B/3.png"))
	list := func(ids ...string) (list []Label) {
		for _, id := range ids {
			list = append(list, Label{ID: id, Class: "fox", Where: "a.csv:2"})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		o      Options
		known  int
		note   string
		failed string
	}{
		{"some are not there", Options{Labels: list("A/1.png", "A/9.png", "B/9.png")}, 1, "2 of 3 rows name photos that are not there, first a.csv:2: \"A/9.png\"", ""},
		{"strict", Options{Labels: list("A/1.png", "A/9.png"), Strict: true}, 0, "", `"A/9.png" is no image`},
		{"none is there", Options{Labels: list("C/1.png", "C/2.png")}, 0, "", "2 of 2 rows name no image"},
		{"a missing value", Options{Labels: append(list("A/1.png"), Label{ID: "A/2.png", Class: "None"})}, 1, "1 cell is a missing value such as None: no class", ""},
		{"a class of its name", Options{Labels: append(list("A/1.png"), Label{ID: "A/2.png", Class: "None"}), Classes: []string{"None", "fox"}}, 2, "", ""},
		{"with the folder's own name", Options{Labels: list(filepath.Base(root)+`\A\1.png`, "other/A/2.png", "A/2.png")}, 2, "1 of 3 rows", ""},
	} {
		d, truth, err := Open("folder", root, c.o)
		if c.failed != "" {
			wantError(t, err, c.failed)
		} else if notes := strings.Join(d.Notes, "\n"); err != nil || truth.Known() != c.known || !strings.HasPrefix(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("%s: %d labels, %q, %v", c.name, truth.Known(), notes, err)
		}
	}
	// A table of all cameras is read for one: rows of the others are none of its photos.
	d, truth, err := Open("folder", filepath.Join(root, "A"), Options{Labels: list("A/1.png", "B/1.png", "B/3.png"), Layout: "{name}"})
	if err != nil || truth.Known() != 1 || len(d.Notes) != 1 {
		t.Errorf("%d labels, %q, %v", truth.Known(), d.Notes, err)
	}
}
