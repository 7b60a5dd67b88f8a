package labels

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const childVariable = "LEDG_TEST_LABELS"

// child appends until it is killed, and prints the events that were reported as saved.
func child(t *testing.T, where string) {
	dir, name, _ := strings.Cut(where, "|")
	l := open(t, dir, Options{})
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s/%d", name, i)
		if _, err := l.Append(labelled(id, "dog", name), labelled(id+"x", "cat", name)); err != nil {
			fmt.Println("ERROR", err)
			os.Exit(1)
		}
		fmt.Println(id)
	}
}

// Processes that append at the same time are killed at any moment: all events reported as saved
// are there, and the other processes are not disturbed.
func TestKilled(t *testing.T) {
	if where := os.Getenv(childVariable); where != "" {
		child(t, where)
	}
	dir := t.TempDir()
	var mu sync.Mutex
	var saved []string
	var wg sync.WaitGroup
	for k := range 6 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|p%d", childVariable, dir, k))
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			lines := 0
			for r := bufio.NewScanner(out); r.Scan(); {
				if strings.HasPrefix(r.Text(), "ERROR") {
					t.Error(r.Text())
				}
				mu.Lock()
				saved = append(saved, r.Text())
				mu.Unlock()
				if lines++; lines == 5+7*k {
					time.Sleep(time.Duration(k) * time.Millisecond)
					cmd.Process.Kill()
				}
			}
			cmd.Wait()
		})
	}
	wg.Wait()
	l := open(t, dir, Options{})
	if len(saved) < 5*6 {
		t.Fatalf("only %d answers were saved", len(saved))
	}
	for _, id := range saved {
		if l.image(id).Class != "dog" || l.image(id+"x").Class != "cat" {
			t.Errorf("%s is lost: %+v", id, l.image(id))
		}
	}
	must[[]Event](t)(l.Append(labelled("after", "cat", "ann")))
}
