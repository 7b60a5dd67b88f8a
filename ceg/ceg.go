package ceg

import (
	"context"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
)

// Config describes a run: its data, network, method and schedule. Package
// [github.com/ledg-go/ledg/ceg/config] resolves one.
type Config = config.Config

// Options are what a run needs beside its Config: its folder, the data's folder, a backend.
type Options = run.Options

// Event is what a run reports while it goes on.
type Event = run.Event

// ErrAwaitingLabels is the error of a run that waits for labels of people.
type ErrAwaitingLabels = campaign.Awaiting

// Run executes Algorithm 1 or another method, and resumes a run of the same folder; see
// [run.Run]. The map of package ceg: (1).
func Run(ctx context.Context, c Config, o Options) (*result.Result, error) { return run.Run(ctx, c, o) }

// Embedding holds the features of a run's images, for figures.
type Embedding = run.Embedding

// Embed computes the features of a run's images with its network; see [run.Embed].
func Embed(ctx context.Context, o Options) (*Embedding, error) { return run.Embed(ctx, o) }

// Extension describes a run that goes on from a finished one, with more labels or images.
type Extension = run.Extension

// Extended is a run that [Extend] began.
type Extended = run.Extended

// Extend begins a run from a finished one; see [run.Extend].
func Extend(x Extension) (*Extended, error) { return run.Extend(x) }
