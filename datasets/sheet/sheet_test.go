package sheet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// read returns the cells of the columns id and label, and the errors of rows.
func read(t *testing.T, text string) (got string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.csv")
	fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
	var rows []string
	err = Read(path, 1<<20, 1<<10, func([]string) error { return nil }, func(r Row) error {
		where := strings.TrimPrefix(r.Where, path+":")
		if r.Err != nil {
			rows = append(rows, fmt.Sprintf("%s: %v", where, r.Err))
		} else {
			rows = append(rows, fmt.Sprintf("%s: %s=%s", where, r.Cell("id"), r.Cell("label", "class", "class_name")))
		}
		return nil
	})
	return strings.Join(rows, "; "), err
}

// Every spelling that spreadsheets have of one table reads the same.
func TestRead(t *testing.T) {
	t.Parallel()
	const want = "2: a/1.jpg=Bär; 3: a/2.jpg=cat, wild"
	utf16 := func(order unicode.Endianness) encoding.Encoding { return unicode.UTF16(order, unicode.UseBOM) }
	encode := func(e encoding.Encoding, text string) string {
		return fatal.Get(e.NewEncoder().String(text))(t)
	}
	const comma = "id,label\na/1.jpg,Bär\na/2.jpg,\"cat, wild\"\n"
	tabs := "id\tlabel\na/1.jpg\tBär\na/2.jpg\tcat, wild\n"
	semi := "id;label\na/1.jpg;Bär\na/2.jpg;cat, wild\n"
	for name, text := range map[string]string{
		"comma": comma, "Windows": strings.ReplaceAll(comma, "\n", "\r\n"), "old Mac": strings.ReplaceAll(comma, "\n", "\r"),
		"tabs": tabs, "semicolons": semi, "mark": "\ufeff" + semi, "spaces": " ID , Label \n a/1.jpg , Bär \n a/2.jpg, \"cat, wild\"",
		"UTF-16 little": encode(utf16(unicode.LittleEndian), strings.ReplaceAll(tabs, "\n", "\r\n")), "UTF-16 big": encode(utf16(unicode.BigEndian), tabs),
		"UTF-16 little, no mark": encode(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), semi), "UTF-16 big, no mark": encode(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), comma),
		"comma in a name":      "id\tlabel\tsize, cm\na/1.jpg\tBär\t\na/2.jpg\tcat, wild\t1,5\n",
		"semicolons in a name": "id,label,\"a; b; c\"\na/1.jpg,Bär,\na/2.jpg,\"cat, wild\",1\n",
		"Windows-1252":         encode(charmap.Windows1252, semi), "empty rows": strings.Replace(comma, "cat, wild\"\n", "cat, wild\",,\n,,\n,\n\n", 1),
		"class": strings.Replace(comma, "label", "Class", 1), "name": strings.Replace(comma, "label", "Class-Name", 1),
	} {
		if got, err := read(t, text); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for _, line := range []string{"sep=;", `"sep=;"`} {
		if got, err := read(t, line+"\r\nid;label\r\na/1.jpg;cat,dog\r\n"); err != nil || got != "3: a/1.jpg=cat,dog" {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	if got, err := read(t, "id,label\na\nb,cat,dog\n"); err != nil || got != "2: it has 1 fields, want 2; 3: it has 3 fields, want 2; a cell with the separator in it needs quotes around it; R leaves out the name of row names: row.names = FALSE" {
		t.Errorf("%q, %v", got, err)
	}
	for text, want := range map[string]string{
		`{"a.png": "cat"}`: "JSON", "[{\"id\": 1}]": "JSON", "\x00\x01\x02\x03id,label\n": "another program", "": "a.csv:1: it is empty", "id,label\na,\"cat": "a.csv:2: ", "sep=;\nid;label\na;\"cat": "a.csv:3: ", "id,label\n" + strings.Repeat("x", 2000): "a.csv: ",
	} {
		if got, err := read(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %q, error %v, want %q", text, got, err, want)
		}
	}
}
