package result

import (
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Result summarises a finished run: result.json.
type Result struct {
	// Format is the format version.
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
	// Pool is the number of candidates, Budget the number of labels that the run may query,
	// Labels the number it queried.
	Pool   int `json:"pool"`
	Budget int `json:"budget"`
	Labels int `json:"labels"`
	// Unqueried counts labels that existed before or were added without a query, outside the budget.
	// Withdrawn counts withdrawn labels, and Bad images dropped from the pool. The key given is the
	// format of older results.
	Unqueried int `json:"given,omitempty"`
	Withdrawn int `json:"withdrawn,omitempty"`
	Bad       int `json:"bad,omitempty"`
	// None lists the IDs, in byte order, of the images that show none of the classes. They have
	// left the pool, and each has used one of the budget's labels.
	None []string `json:"none,omitempty"`
	// Groups counts groups of images; nil without groups.
	Groups *GroupCounts `json:"groups,omitempty"`
	// LeftOut is the number of the files of the user's own images that are not used.
	LeftOut int `json:"left_out,omitempty"`
	// Unsure lists the IDs, in byte order, of the images marked unsure at the end of the run.
	Unsure []string `json:"unsure,omitempty"`
	// Classes are the names of the classes, in the order of records. Results of older versions
	// have none.
	Classes []string `json:"classes,omitempty"`
	// ValLabels is the number of labels in the source validation splits, which best_source_val
	// uses; ValInBudget is true if Labels and Budget count them.
	ValLabels   int  `json:"val_labels"`
	ValInBudget bool `json:"val_in_budget"`
	// Images is the digest of the decoded images of all domains.
	Images string `json:"images"`
	// Accuracy holds the results by the three model selection rules.
	Accuracy Choices `json:"accuracy"`
	// Names are class names alone, on features that have them.
	Names *NamesAlone `json:"names,omitempty"`
	// Note states if there were no labels to evaluate on.
	Note string `json:"note,omitempty"`
	// Versions are the versions of the program and its libraries.
	Versions Versions `json:"versions"`
	// Engines lists the engines of the epochs, in order: one, unless the run was resumed on
	// another.
	Engines []Engine `json:"engines"`
	// Timing is the only part of a Result that differs between repeated runs.
	Timing Timing `json:"timing"`
}

// NamesAlone is the accuracy of class names alone, without labels.
type NamesAlone struct {
	// Accuracy is by domain and split, as in a record.
	Accuracy []Accuracy `json:"accuracy"`
	// Lost counts target images that names alone classify correctly and the network of the last epoch does not,
	// Won those the other way round.
	Lost int `json:"lost"`
	Won  int `json:"won"`
}

// Versions are the versions of the program that computed a result.
type Versions struct {
	Ledg string `json:"ledg"`
	// Commit is ledg's full commit; Dirty is true if files differed from it. Results of older
	// versions and of builds without version control have neither.
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"`
	Go      string `json:"go"`
	GoMLX   string `json:"gomlx"`
	Compute string `json:"compute"`
	// Backend is the engine that ran the graphs, such as "go".
	Backend string `json:"backend"`
}

// Engine is the engine that computed a run from an epoch on, with the settings that can change a
// result in its last digits.
type Engine struct {
	FromEpoch int `json:"from_epoch"`
	// Backend is its short name, such as "go" or "xla:cuda".
	Backend string `json:"backend"`
	// TF32 is true if float32 convolutions and matrix products may have rounded their inputs to
	// 10 bits of mantissa.
	TF32 bool `json:"tf32"`
	// Plugin is the file name of XLA's PJRT plugin, PluginAPI the version of its interface,
	// PluginSHA256 the file's digest, XLAFlags the environment variable XLA_FLAGS.
	Plugin       string `json:"plugin,omitempty"`
	PluginAPI    string `json:"plugin_api,omitempty"`
	PluginSHA256 string `json:"plugin_sha256,omitempty"`
	XLAFlags     string `json:"xla_flags,omitempty"`
	// Hardware selects kernels: "amd64 avx512", the CPU's instructions for XLA, or the GPUs.
	// Software holds the versions of Go, GoMLX and compute. Results of older versions have
	// neither.
	Hardware string `json:"hardware,omitempty"`
	Software string `json:"software,omitempty"`
	// Revision is ledg's revision (see the function Revision), if known.
	Revision string `json:"revision,omitempty"`
}

// String names the engine with all properties that can change a result: "go (amd64 avx512;
// ...)".
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

// Timing is the cost of a run. Times are wall-clock seconds over all processes that worked on
// it.
type Timing struct {
	// Began is when the first process began the run, in UTC. Results of older versions have none.
	Began time.Time `json:"began,omitzero"`
	// Seconds is the sum over epochs; Train, Wait, Eval and Query are its parts as in Time.
	Seconds float64 `json:"seconds"`
	Train   float64 `json:"train"`
	Wait    float64 `json:"wait"`
	Eval    float64 `json:"eval"`
	Query   float64 `json:"query"`
	// Prepare is the time of the last process to decode and cache images, Compile to compile
	// graphs.
	Prepare float64 `json:"prepare"`
	Compile float64 `json:"compile"`
	// PeakMemoryBytes is the last process's peak resident memory.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	// Machine names the last process's processor, cores and system; Threads is its GOMAXPROCS.
	// Results of older versions have none.
	Machine string `json:"machine,omitempty"`
	Threads int    `json:"threads,omitempty"`
}

// AddRecords adds the times of records to t.
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
func (r Result) JSON() ([]byte, error) { return r.encode("  ") }

// Line returns the result as JSON on one line, newline included.
func (r Result) Line() ([]byte, error) { return r.encode("") }

func (r Result) encode(indent string) ([]byte, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	return encode(r, indent)
}

// Untimed returns the result as JSON without its timing: the bytes that are equal for repeated
// and interrupted runs.
func (r Result) Untimed() ([]byte, error) {
	r.Timing = Timing{}
	return r.JSON()
}

// GroupCounts counts groups: of all candidates, and of the labelled ones. An example without a
// group counts as one.
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
	case r.Unqueried < 0 || r.Withdrawn < 0 || r.Bad < 0:
		return fmt.Errorf("given is %d, withdrawn %d, bad %d, want 0 or more", r.Unqueried, r.Withdrawn, r.Bad)
	case r.Labels < 0 || r.Labels > r.Budget+r.Unqueried:
		return fmt.Errorf("labels is %d, want 0 to the budget, %d, and the %d given beside it", r.Labels, r.Budget, r.Unqueried)
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

// ReadResult reads a result.json. Missing and unknown fields and unreadable formats are errors
// that name the file.
func ReadResult(fsys fs.FS, name string) (Result, error) {
	var r Result
	if err := readFormatted(fsys, name, maxFile, &r); err != nil {
		return Result{}, err
	}
	r.Format = Format
	if err := r.validate(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
