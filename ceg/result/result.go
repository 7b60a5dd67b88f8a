package result

import (
	"fmt"
	"io/fs"
	"strings"
)

// Result is what a finished run amounts to: result.json.
type Result struct {
	// Format is the package's constant of that name.
	Format int `json:"format"`
	// Method, Dataset, Target, Preset and Seed name the run; its other settings
	// are in config.json.
	Method  string `json:"method"`
	Dataset string `json:"dataset"`
	Target  string `json:"target"`
	Preset  string `json:"preset"`
	Seed    uint64 `json:"seed"`
	// Epochs is the number of epochs trained.
	Epochs int `json:"epochs"`
	// Pool is the number of examples that could be asked about, Budget the number
	// of labels that the run might spend on them, Labels the number it spent.
	Pool   int `json:"pool"`
	Budget int `json:"budget"`
	Labels int `json:"labels"`
	// Given is the number of labels, beside those of the budget, that were there or
	// came without being asked for, Withdrawn that of labels that were taken back, and
	// Bad that of images that left the pool.
	Given     int `json:"given,omitempty"`
	Withdrawn int `json:"withdrawn,omitempty"`
	Bad       int `json:"bad,omitempty"`
	// Groups counts the groups of images that belong together; nil where nothing says what
	// does.
	Groups *GroupCounts `json:"groups,omitempty"`
	// Unsure are the IDs, in byte order, of the images of which somebody was unsure
	// when the run ended.
	Unsure []string `json:"unsure,omitempty"`
	// Classes are the names of the classes in the order in which records count them.
	// Results of older versions have none.
	Classes []string `json:"classes,omitempty"`
	// ValLabels is the number of labels in the source validation splits, which
	// the best_source_val rule reads; ValInBudget says whether Labels and Budget
	// count them.
	ValLabels   int  `json:"val_labels"`
	ValInBudget bool `json:"val_in_budget"`
	// Images is the digest of the images as the network saw them, of all domains;
	// empty in some results of format 1.
	Images string `json:"images"`
	// Accuracy is the run's outcome by the three selection rules.
	Accuracy Choices `json:"accuracy"`
	// Note says so if there was nothing to measure with.
	Note string `json:"note,omitempty"`
	// Versions of what computed it.
	Versions Versions `json:"versions"`
	// Engines lists what computed the epochs, in order: one, unless the run was
	// resumed on another. Some results of format 1 have none.
	Engines []Engine `json:"engines"`
	// Timing is the only part of a Result that differs when a run is repeated.
	Timing Timing `json:"timing"`
}

// Versions names the code that computed a result.
type Versions struct {
	Ledg string `json:"ledg"`
	// Commit is that of ledg in full, Dirty says that files differed from it. Results of
	// older versions and of builds that do not say have neither.
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"`
	Go      string `json:"go"`
	GoMLX   string `json:"gomlx"`
	Compute string `json:"compute"`
	// Backend is the engine that ran the graphs, such as "go".
	Backend string `json:"backend"`
}

// Engine is what computed a run's graphs from an epoch on, with the settings that
// can change a result in its last digits.
type Engine struct {
	FromEpoch int `json:"from_epoch"`
	// Backend is its short name, such as "go" or "xla:cuda".
	Backend string `json:"backend"`
	// TF32 says that convolutions and products of float32 may have rounded their
	// inputs to 10 bits of mantissa.
	TF32 bool `json:"tf32"`
	// Plugin is the file name of XLA's PJRT plugin, PluginAPI the version of its
	// interface, PluginSHA256 the file's digest, XLAFlags the environment variable
	// XLA_FLAGS as it saw it.
	Plugin       string `json:"plugin,omitempty"`
	PluginAPI    string `json:"plugin_api,omitempty"`
	PluginSHA256 string `json:"plugin_sha256,omitempty"`
	XLAFlags     string `json:"xla_flags,omitempty"`
	// Hardware is what its kernels were chosen by: "amd64 avx512", the instructions of
	// the CPU for XLA, or the GPUs. Software are the versions of Go, GoMLX and compute.
	// Results of older versions have neither.
	Hardware string `json:"hardware,omitempty"`
	Software string `json:"software,omitempty"`
	// Revision is ledg's, as the function Revision has it, if it is known.
	Revision string `json:"revision,omitempty"`
}

// String names the engine with all that can change a result: "go (amd64 avx512; ...)".
func (e Engine) String() string {
	var facts []string
	add := func(format, value string) {
		if value != "" {
			facts = append(facts, fmt.Sprintf(format, value))
		}
	}
	add("%s", e.Plugin)
	add("PJRT %s", e.PluginAPI)
	add("SHA-256 %.12s", e.PluginSHA256)
	add("XLA_FLAGS=%s", e.XLAFlags)
	if e.TF32 {
		facts = append(facts, "TF32")
	}
	add("%s", e.Hardware)
	add("%s", e.Software)
	add("ledg %s", e.Revision)
	if len(facts) == 0 {
		return e.Backend
	}
	return e.Backend + " (" + strings.Join(facts, "; ") + ")"
}

// Timing is what a run cost. Times are wall-clock seconds, over all the
// processes that worked on the run.
type Timing struct {
	// Seconds is the sum over the epochs, Train, Wait, Eval and Query its parts
	// as in Time.
	Seconds float64 `json:"seconds"`
	Train   float64 `json:"train"`
	Wait    float64 `json:"wait"`
	Eval    float64 `json:"eval"`
	Query   float64 `json:"query"`
	// Prepare is the time that the last process took to decode and cache images,
	// Compile to compile graphs.
	Prepare float64 `json:"prepare"`
	Compile float64 `json:"compile"`
	// PeakMemoryBytes is the last process's largest resident set.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	// Machine names the last process's processor, its cores and system, Threads is its
	// GOMAXPROCS. Results of older versions have none.
	Machine string `json:"machine,omitempty"`
	Threads int    `json:"threads,omitempty"`
}

// AddRecords adds the times of the records to the sums of t.
func (t *Timing) AddRecords(records []Record) {
	for _, r := range records {
		t.Seconds += r.Time.Seconds
		t.Train += r.Time.Train
		t.Wait += r.Time.Wait
		t.Eval += r.Time.Eval
		t.Query += r.Time.Query
	}
}

// JSON returns the content of result.json. Equal results give equal bytes.
func (r Result) JSON() ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	return encode(r, "  ")
}

// Line returns the result as JSON on one line, newline included.
func (r Result) Line() ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	return encode(r, "")
}

// Untimed returns the result as JSON without its timing: the bytes that are the
// same whenever, and however often interrupted, the run is repeated.
func (r Result) Untimed() ([]byte, error) {
	r.Timing = Timing{}
	return r.JSON()
}

// GroupCounts are numbers of groups: of the examples that could be asked about, and of those
// with a label. An example of no group counts as one.
type GroupCounts struct {
	Pool   int `json:"pool"`
	Labels int `json:"labels"`
}

func (r Result) validate() error {
	switch g := r.Groups; {
	case g != nil && (g.Labels < 0 || g.Labels > g.Pool || g.Labels > r.Labels):
		return fmt.Errorf("groups.labels is %d, want 0 to groups.pool, %d, and labels, %d", g.Labels, g.Pool, r.Labels)
	case r.Format != Format:
		return fmt.Errorf("format is %d, want %d", r.Format, Format)
	case r.Method == "" || r.Dataset == "" || r.Target == "":
		return fmt.Errorf("method is %q, dataset %q, target %q: want all three", r.Method, r.Dataset, r.Target)
	case r.Epochs < 1:
		return fmt.Errorf("epochs is %d, want 1 or more", r.Epochs)
	case r.Given < 0 || r.Withdrawn < 0 || r.Bad < 0:
		return fmt.Errorf("given is %d, withdrawn %d, bad %d, want 0 or more", r.Given, r.Withdrawn, r.Bad)
	case r.Labels < 0 || r.Labels > r.Budget+r.Given:
		return fmt.Errorf("labels is %d, want 0 to the budget, %d, and the %d given beside it", r.Labels, r.Budget, r.Given)
	case r.Budget > r.Pool:
		return fmt.Errorf("budget is %d, want at most the pool, %d", r.Budget, r.Pool)
	}
	for _, rule := range r.Accuracy.Rules() {
		c := rule.Choice
		switch {
		case c == nil:
		case c.Epoch < 0 || c.Epoch >= r.Epochs:
			return fmt.Errorf("accuracy.%s.epoch is %d, want 0 to %d", rule.Name, c.Epoch, r.Epochs-1)
		case c.Target.Total == 0 && r.Note == "":
			return fmt.Errorf("accuracy.%s.target counts no examples, and there is no note that says why", rule.Name)
		case c.TargetAccuracy != c.Target.Share():
			return fmt.Errorf("accuracy.%s.target_accuracy is %v, want %s = %v",
				rule.Name, c.TargetAccuracy, c.Target, c.Target.Share())
		}
	}
	return nil
}

// ReadResult reads a result.json. Missing and unknown fields, and a format that this
// version does not read, are errors that name the file.
func ReadResult(fsys fs.FS, name string) (Result, error) {
	var r Result
	if err := readFormatted(fsys, name, &r); err != nil {
		return Result{}, err
	}
	r.Format = Format
	if err := r.validate(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
