package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// pacsRoot returns the folder of real PACS images, or skips the test.
func pacsRoot(t *testing.T) string {
	t.Helper()
	root := os.Getenv("LEDG_DATA")
	if root == "" {
		t.Skip("set LEDG_DATA to a folder with the images and lists of PACS to run this test")
	}
	return root
}

// The expected values were recomputed with Python from the published code.
func TestAuthorsInitialSplit(t *testing.T) {
	lists, err := PACSLists(os.DirFS(pacsRoot(t)))
	if err != nil {
		t.Fatal(err)
	}
	sources := []string{"sketch", "photo", "cartoon"}
	for _, c := range []struct {
		seed   uint64
		counts [3]int
		first  string
		sum    string
	}{
		{1, [3]int{84, 34, 60}, "sketch/horse/n02374451_18909-2.png", "3637db9bcfcb3610"},
		{2, [3]int{94, 41, 43}, "photo/house/pic_183.jpg", "7638d0dc4a1d0a74"},
		{3, [3]int{70, 44, 64}, "photo/horse/105_0072.jpg", "345ff14f319f956e"},
		{4, [3]int{86, 36, 56}, "cartoon/house/pic_249.jpg", "25257d93a4ed1a69"},
		{5, [3]int{91, 38, 49}, "sketch/giraffe/n02439033_10616-4.png", "291b288a69b0bb16"},
	} {
		labelled, unlabelled, err := AuthorsInitialSplit(lists, sources, c.seed, 2.5)
		if err != nil {
			t.Fatal(err)
		}
		if len(labelled) != 178 || len(unlabelled) != 6958 {
			t.Fatalf("seed %d: %d labelled and %d unlabelled, want 178 and 6958", c.seed, len(labelled), len(unlabelled))
		}
		var counts [3]int
		for _, id := range labelled {
			for k, s := range sources {
				if strings.HasPrefix(id, s+"/") {
					counts[k]++
				}
			}
		}
		sum := sha256.Sum256([]byte(strings.Join(labelled, "\n")))
		if counts != c.counts || labelled[0] != c.first || hex.EncodeToString(sum[:8]) != c.sum {
			t.Errorf("seed %d: %v, %s, %x; want %v, %s, %s", c.seed, counts, labelled[0], sum[:8], c.counts, c.first, c.sum)
		}
	}
}

// Without the real lists: the same procedure on six images, worked out with
// Python's random.seed(5) and random.shuffle.
func TestAuthorsInitialSplitSmall(t *testing.T) {
	lists := fstest.MapFS{}
	for _, d := range pacsDomains {
		lists[listName(d, Train)] = &fstest.MapFile{}
		lists[listName(d, Val)] = &fstest.MapFile{}
	}
	lists["photo_train_kfold.txt"].Data = []byte("photo/horse/a.jpg 5\nphoto/dog/b.jpg 1\nphoto/horse/c.jpg 5\nphoto/dog/d.jpg 1\n")
	lists["sketch_train_kfold.txt"].Data = []byte("sketch/dog/e.png 1\n" + pacsBadFile + " 1\nsketch/dog/f.png 1\n")
	labelled, unlabelled, err := AuthorsInitialSplit(lists, []string{"sketch", "photo"}, 5, 50)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(labelled, " ") + " | " + strings.Join(unlabelled, " ")
	want := "photo/dog/d.jpg photo/horse/a.jpg photo/dog/b.jpg | sketch/dog/e.png sketch/dog/f.png photo/horse/c.jpg"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, bad := range [][]string{{"photos"}, {"photo", "photo"}} {
		if _, _, err := AuthorsInitialSplit(lists, bad, 5, 50); err == nil {
			t.Errorf("sources %v gave no error", bad)
		}
	}
	if _, _, err := AuthorsInitialSplit(lists, []string{"photo"}, 5, 101); err == nil {
		t.Error("101 percent gave no error")
	}
}
