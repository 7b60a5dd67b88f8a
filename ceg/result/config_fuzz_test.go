package result

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// No config.json makes its readers panic: reading gives a valid config that survives writing and
// reading, or an error of one line.
func FuzzConfig(f *testing.F) {
	c := configtest.New(f, "glyphs", "photo", "ceg", config.Authors)
	valid := fatal.Get(json.Marshal(c))(f)
	text := string(valid)
	for _, seed := range []string{
		text, text[:len(text)/2], text + text, ``, `{}`, `null`, `[]`, `{"format":1}`, `{"format":1,"method":"fixmatch","generalization":{}}`,
		`{"format":1,"network":null,"generalization":[]}`, `{"format":1,"data":{"classes":[null]}}`, `{"format":1e0}`, `{"format":"0\n"}`, `{"format":9223372036854775808}`,
		strings.Replace(text, `"seed":1`, `"seed":1e400`, 1),
		strings.Replace(text, `"seed":1`, `"Seed":1`, 1), strings.Replace(text, `"photo"`, `"a\nb\u0000\u202e"`, 1),
		strings.ReplaceAll(text, `:{`, `:null,"x":{`), strings.ReplaceAll(text, `1`, `-9007199254740993`), strings.ReplaceAll(text, `.`, `e30`),
		strings.Repeat(`{"format":`, 20000), strings.Replace(text, `[`, strings.Repeat("[", 20000), 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		line := func(err error) bool {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %v", err)
			}
			return err == nil
		}
		if c, err := config.Parse(data); line(err) {
			line(c.Validate())
		}
		var c config.Config
		if !line(ReadConfig(fstest.MapFS{ConfigFile: {Data: data}}, ConfigFile, &c)) || !line(c.Validate()) {
			return
		}
		if _, err := c.Identity(); err != nil {
			t.Errorf("%+v has no identity: %v", c, err)
		}
		var b strings.Builder
		fatal.If(t, WriteConfig(&b, c))
		var again config.Config
		if err := ReadConfig(fstest.MapFS{ConfigFile: {Data: []byte(b.String())}}, ConfigFile, &again); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v is read again as %+v, %v", c, again, err)
		}
		line(sameConfig(data, c))
	})
}
