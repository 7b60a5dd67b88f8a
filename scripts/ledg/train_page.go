package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// runPage serves the labelling page of a run in a process of its own, and reports to it what the
// run does.
type runPage struct {
	cmd    *cobra.Command
	dir    string
	ctx    context.Context
	cancel func()
	once   sync.Once
	work   sync.WaitGroup
	served bool

	mu       sync.Mutex
	training string // progress
}

func newRunPage(cmd *cobra.Command, dir string) *runPage {
	p := &runPage{cmd: cmd, dir: dir}
	p.ctx, p.cancel = context.WithCancel(cmd.Context())
	return p
}

// show serves the page, once the run can be labelled. Calls after the first do nothing.
func (p *runPage) show() {
	p.once.Do(func() {
		p.served = true
		p.work.Go(func() {
			c := newLabelCommand([]string{"label", p.dir, "--parent", strconv.Itoa(os.Getpid())})
			c.SetOut(p.cmd.OutOrStdout())
			c.SetErr(p.cmd.ErrOrStderr())
			c.SetArgs([]string{p.dir, "--detach"})
			c.SilenceErrors, c.SilenceUsage = true, true
			if err := c.ExecuteContext(p.ctx); err != nil && p.ctx.Err() == nil {
				fmt.Fprintf(p.cmd.ErrOrStderr(), "the labelling page: %s\n", cli.OneLine(err))
			}
		})
		p.work.Go(func() {
			for tick := time.NewTicker(time.Second); ; {
				select {
				case <-p.ctx.Done():
					return
				case <-tick.C:
					p.mu.Lock()
					training := p.training
					p.mu.Unlock()
					_ = page.Report(filepath.Join(p.dir, labels.File), training) // the page shows less without
				}
			}
		})
	})
}

// observe notes the progress of the run.
func (p *runPage) observe(e ceg.Event) {
	training := fmt.Sprintf("epoch %d of %d", e.Epoch+1, e.Epochs)
	switch {
	case e.Epochs == 0 || e.Steps == 0:
		return
	case e.Message != "" && e.Over() < float64(e.Epochs): // of a query
		return
	case e.Message != "": // the accuracy is estimated
		training = e.Message
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.training = training
}

// close stops the page, after its windows have shown how the run ended.
func (p *runPage) close() {
	p.cancel()
	if p.work.Wait(); p.served {
		_ = page.Stop(context.Background(), filepath.Join(p.dir, labels.File)) // it may have stopped already
	}
}
