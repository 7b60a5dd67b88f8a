package rgb

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// At a half, a quarter and an eighth of the size, JPEGs of all kinds of subsampling, scans and
// colours equal Pillow's to the bit.
func TestShrinkMatchesPillow(t *testing.T) {
	f := fatal.Get(os.Open("testdata/scaled.csv"))(t)
	defer f.Close()
	rows := fatal.Get(csv.NewReader(f).ReadAll())(t)
	if len(rows) < 100 {
		t.Fatalf("only %d pictures", len(rows))
	}
	for _, row := range rows {
		data := fatal.Get(os.ReadFile(filepath.Join("testdata/decode", row[0])))(t)
		m := fatal.Get(shrinkJPEG(t.Context(), data, fatal.Get(strconv.Atoi(row[1]))(t)))(t)
		sum := sha256.Sum256(m.Pix)
		if got := []string{strconv.Itoa(m.Width), strconv.Itoa(m.Height), hex.EncodeToString(sum[:])}; got[0] != row[2] || got[1] != row[3] || got[2] != row[4] {
			t.Errorf("%s at 1/%s: got %v, want %v", row[0], row[1], got, row[2:])
		}
	}
}

// A rule for a network decodes at the smallest scale that keeps twice the network's side, upright,
// and has a name of its own; what is not large, or no JPEG, is as in a photo.
func TestScaledFor(t *testing.T) {
	rule := ScaledFor(Fit{Size: 8, Short: 10})
	if back, err := ParseDecoding(rule.Word()); rule != "scaled20" || err != nil || back != rule {
		t.Errorf("rule %q, read again %q, %v", rule, back, err)
	}
	for _, c := range []struct{ width, height, want int }{{200, 39, 1}, {40, 200, 2}, {80, 79, 2}, {80, 80, 4}, {1000, 160, 8}, {4000, 3000, 8}} {
		if n := rule.shrink(c.width, c.height); n != c.want {
			t.Errorf("%d x %d pixels: 1/%d, want 1/%d", c.width, c.height, n, c.want)
		}
	}
	data := encodeJPEG(t, noise(96, 45))
	for _, c := range []struct {
		rule          Decoding
		width, height int
	}{{Photo, 96, 45}, {rule, 48, 23}, {rule.ForDisplay(9), 24, 12}, {Photo.ForDisplay(9), 24, 12}, {Stored.ForDisplay(9), 96, 45}} {
		m := fatal.Get(c.rule.Decode(t.Context(), data))(t)
		if m.Width != c.width || m.Height != c.height {
			t.Errorf("%s: %d x %d pixels, want %d x %d", c.rule.Word(), m.Width, m.Height, c.width, c.height)
		}
	}
	for _, name := range []string{"photo/jpeg_6.jpg", "decode/rgb8.png"} {
		data := fatal.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		if got, want := fatal.Get(rule.Decode(t.Context(), data))(t), fatal.Get(Photo.Decode(t.Context(), data))(t); !near(got, want, 0) {
			t.Errorf("%s is not the photo", name)
		}
	}
	for _, word := range []string{"scaled", "scaled0", "scaled-3", "scaled07"} {
		if d, err := ParseDecoding(word); err == nil {
			t.Errorf("%s is read as %s", word, d)
		}
	}
}
