package detections

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"md.json": {`{"images":[{"file":"a\\1.jpg","detections":[{"category":2,"conf":0.75,"bbox":[0.1,0.2,0.3,0.4],"classifications":[["7",0.6]]}]},{"file":"b.jpg","failure":"bad"}],
			"detection_categories":{"1":"animal","2":"person"},"classification_categories":{"7":"ranger"}}`,
			`a\1.jpg: 0.1,0.2,0.3,0.4 person 0.75 {ranger 0.6}; b.jpg bad:; `},
		"old.json": {`{"images":[{"file":"a.jpg","detections":[{"category":"1","conf":1,"bbox":[-0.01,0,0.5,0.5]}]}]}`, `a.jpg: 0,0,0.49,0.5 animal 1 { 0}; `},
		"predictions.json": {`{"predictions":[{"filepath":"a.jpg","detections":[{"category":"1","label":"animal","conf":0.9,"bbox":[0,0,0.5,0.5]}],"prediction":"x;mammalia;carnivora;canidae;vulpes;vulpes;red fox","prediction_score":0.8},
			{"filepath":"b.jpg","failures":["DETECTOR"]}]}`, `a.jpg: 0,0,0.5,0.5 animal 0.9 { 0} says red fox; b.jpg DETECTOR:; `},
		"coco.json": {`{"images":[{"id":1,"file_name":"a.jpg","width":100,"height":50},{"id":2,"file_name":"b.jpg"}],"annotations":[{"image_id":1,"category_id":3,"bbox":[10,5,20,20.25]}],"categories":[{"id":3,"name":"bird"}]}`,
			`a.jpg: 10,5,20,20.3 bird 1 { 0}; b.jpg:; `},
		"cvat.xml": {`<annotations><image id="0" name="a.jpg" width="100" height="50"><box label="cell" xtl="10" ytl="5" xbr="30" ybr="15"></box></image></annotations>`, `a.jpg: 10,5,20,10 cell 1 { 0}; `},
		"null.json": {`{"images":[{"file":"a.jpg","detections":null},{"file":"b.jpg","detections":[{"category":1.0,"conf":1,"bbox":[0,0,0.5,0.5]}]}],"detection_categories":{"1":"animal"}}`,
			`a.jpg there is no list of its detections:; b.jpg: 0,0,0.5,0.5 animal 1 { 0}; `},
		"ids.json": {`{"images":[{"id":1.0,"file_name":"a.jpg"}],"annotations":[{"image_id":1,"category_id":"3","bbox":[10,5,20,20]}],"categories":[{"id":3,"name":"bird"}]}`, `a.jpg: 10,5,20,20 bird 1 { 0}; `},
		"shapes.xml": {`<annotations><image id="0" name="a.jpg"><box label="deer" xtl="20" ytl="20" xbr="60" ybr="40" rotation="90"/><polygon label="boar" points="10.0,10.0;30.5,10.0;30.0,40.0"/><ellipse label="fox" cx="30" cy="30" rx="10" ry="5"/><mask label="fox" left="5" top="6" width="20" height="10"/><tag label="x"/></image></annotations>`,
			`a.jpg: 30,10,20,40 deer 1 { 0} 10,10,20.5,30 boar 1 { 0} 20,25,20,10 fox 1 { 0} 5,6,20,10 fox 1 { 0}; `},
		"video.xml":    {`<annotations><track id="0" label="deer"><box frame="0" xtl="1" ytl="1" xbr="9" ybr="9"/></track></annotations>`, "error"},
		"percent.csv":  {"path,x,y,w,h,score\na.jpg,0,0,1,1,87\n", "error"},
		"nan.csv":      {"path,x,y,w,h\na.jpg,NaN,0,1,1\n", "error"},
		"half.csv":     {"path,x,y,w,h\na.jpg,0,,1,1\n", "error"},
		"twice.json":   {`{"images":[{"id":1,"file_name":"a.jpg"},{"id":"1","file_name":"b.jpg"}],"annotations":[],"categories":[]}`, "error"},
		"unknown.json": {`{"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[{"image_id":1,"category_id":4,"bbox":[10,5,20,20]}],"categories":[{"id":3,"name":"bird"}]}`, "error"},
		"t.csv":        {"path;x;y;w;h;score\na.jpg;0,1;0;0;0\n", "error"},
		"u.csv":        {"path,x,y,w,h,score,label\na.jpg,0.1,0.2,0.3,0.4,0.5,bird\nb.jpg,,,,,,\na.jpg,0,0,1,1,0.25,\n", `a.jpg: 0.1,0.2,0.3,0.4 bird 0.5 { 0} 0,0,1,1  0.25 { 0}; b.jpg:; `},
		"ends.csv":     {"filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,640,480,deer,10,20,50,100\n", `a.jpg: 10,20,40,80 deer 1 { 0}; `},
		"one.csv":      {"path,x,y,w,h\na.jpg,0,0.1234,1.00004,0.5\n", `a.jpg: 0,0.1234,1,0.5  1 { 0}; `},
		"v.csv":        {"path,score\na.jpg,1\n", "error"},
		"w.json":       {`{"images":[{"file":"a.jpg","detections":[{"category":"1","conf":1,"bbox":[0,0]}]}]}`, "error"},
		"x.txt":        {"nothing", "error"},
	} {
		path := filepath.Join(t.TempDir(), name)
		fatal.If(t, os.WriteFile(path, []byte(c.text), 0o666))
		list, err := Read(path)
		if c.want == "error" {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := ""
		for _, m := range list.Images {
			got += strings.TrimSuffix(m.File+" "+m.Failure, " ") + ":"
			for _, b := range m.Boxes {
				got += fmt.Sprintf(" %v %s %v %v", b.Box, b.Class, b.Score, b.Said)
			}
			if m.Said.Class != "" {
				got += " says " + m.Said.Class
			}
			got += "; "
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
