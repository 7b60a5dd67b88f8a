package rgb

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ledg-go/ledg/internal/fatal"
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
