package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// Frame holds runs as tidy rows, one for each measured value, for pandas, R and DuckDB.
type Frame struct {
	Rows []FrameRow
	// Settings are the settings that some run does not have at its default. They are columns of
	// every row.
	Settings []config.Setting
}

// FrameRow is one value of a run.
type FrameRow struct {
	// Run is the run's folder.
	Run string `parquet:"run"`
	// Method is the display name of its arm.
	Method  string `parquet:"method"`
	Preset  string `parquet:"preset"`
	Dataset string `parquet:"dataset"`
	Target  string `parquet:"target"`
	Seed    uint64 `parquet:"seed"`
	Budget  string `parquet:"budget"`
	// Labels is the number of labels that the epoch was trained with.
	Labels int64 `parquet:"labels"`
	// Epoch is the number of epochs trained.
	Epoch int64 `parquet:"epoch"`
	// Domain is the domain of an accuracy, empty for other metrics.
	Domain string `parquet:"domain"`
	// Split is train, val or test.
	Split string `parquet:"split"`
	// Metric names the value, such as accuracy, in [0, 1], or loss_ce.
	Metric string  `parquet:"metric"`
	Value  float64 `parquet:"value"`

	config config.Config
}

// NewFrame returns the values of every epoch of runs, finished or not; each path is a run or a
// folder of runs. The metrics are accuracy per domain and split, the number of labelled images
// behind it, the losses, and the share and accuracy of confident pseudo-labels.
func NewFrame(paths ...string) (*Frame, error) {
	return newFrame(paths, func(run *RecordedRun, row FrameRow) (rows []FrameRow) {
		add := func(domain, split, metric string, value float64) {
			row.Domain, row.Split, row.Metric, row.Value = domain, split, metric, value
			rows = append(rows, row)
		}
		for _, r := range run.Records {
			row.Labels, row.Epoch = int64(r.Labels), int64(r.Epoch)+1
			for _, a := range r.Accuracy {
				if a.Tally.Total > 0 {
					add(a.Domain, a.Split, "accuracy", a.Tally.Share())
				}
				add(a.Domain, a.Split, "images", float64(a.Tally.Total))
			}
			for _, l := range r.Loss {
				add("", result.TrainSplit, "loss_"+l.Name, l.Value)
			}
			if p := r.PseudoLabel; p.Total > 0 {
				add("", result.TrainSplit, "pseudo_label_share", p.KeepRate())
				if p.Accepted > p.Unknown {
					add("", result.TrainSplit, "pseudo_label_accuracy", p.Accuracy())
				}
			}
		}
		return rows
	})
}

// CompareFrame returns the accuracy on the target of finished runs, with one row for each of the
// three model selection rules: the metrics last_epoch, best_source_val and best_target. Epoch and
// Labels belong to the selected epoch.
func CompareFrame(paths ...string) (*Frame, error) {
	return newFrame(paths, func(run *RecordedRun, row FrameRow) (rows []FrameRow) {
		for _, rule := range run.Choices.Rules() {
			if c := rule.Choice; c != nil && c.Target.Total > 0 {
				row.Labels, row.Epoch, row.Domain, row.Split = int64(c.Labels), int64(c.Epoch)+1, row.Target, result.TestSplit
				row.Metric, row.Value = rule.Name, c.Target.Share()
				rows = append(rows, row)
			}
		}
		return rows
	})
}

func newFrame(paths []string, of func(*RecordedRun, FrameRow) []FrameRow) (*Frame, error) {
	runs, err := readRuns(paths)
	if err != nil {
		return nil, err
	}
	f := &Frame{}
	changed := map[string]bool{}
	for _, run := range runs {
		c := run.Config
		for _, path := range notDefault(c) {
			changed[path] = true
		}
		f.Rows = append(f.Rows, of(run, FrameRow{Run: run.Path, Method: c.Arm().Name(), Preset: string(c.Preset), Dataset: c.Data.Dataset,
			Target: c.Data.Target, Seed: c.Seed, Budget: c.Exploration.Budget, config: c})...)
	}
	f.Settings = slices.DeleteFunc(config.Settings(), func(s config.Setting) bool { return !changed[s.Path] })
	return f, nil
}

// columned are the settings with a column of their own, or that follow from the method.
var columned = []string{"method", "exploration.strategy", "generalization.objective", "preset", "seed", "data.dataset", "data.target", "exploration.budget"}

// notDefault lists the settings of a config that differ from the defaults of its method, preset
// and data set. Settings derived from its timing and number of epochs count as defaults.
func notDefault(c config.Config) (list []string) {
	spec := config.Spec{Dataset: c.Data.Dataset, Target: c.Data.Target, Preset: c.Preset, Seed: c.Seed, Budget: c.Exploration.Budget}
	var plain config.Config
	strategy, objective := c.Exploration.Strategy, c.Generalization.Objective
	// Those that another program has registered are unknown here; most have the defaults of these.
	const someStrategy, someObjective = "entropy", "meanteacher"
	for _, by := range [][2]string{{strategy, objective}, {someStrategy, objective}, {strategy, someObjective}, {someStrategy, someObjective}} {
		var err error
		spec.Strategy, spec.Objective = by[0], by[1]
		if plain, err = config.Resolve(spec); err == nil {
			break
		}
	}
	if plain.Method == "" {
		return nil
	}
	spec.Timing, spec.Epochs = c.Schedule.Timing, c.Schedule.Epochs
	same, err := config.Resolve(spec)
	if err != nil {
		same = plain
	}
	for _, s := range config.Settings() {
		to := same
		if s.Path == "schedule.timing" || s.Path == "schedule.epochs" {
			to = plain
		}
		if !slices.Contains(columned, s.Path) && s.Text(c) != s.Text(to) {
			list = append(list, s.Path)
		}
	}
	return list
}

// frameFields are the columns before the settings.
var frameFields = slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[FrameRow]()), func(f reflect.StructField) bool { return !f.IsExported() })

// value returns the value of a setting in a row: a number, a truth value or a text.
func (row FrameRow) value(s config.Setting) reflect.Value {
	switch s.Kind() {
	case "int", "uint", "float", "bool":
		return reflect.ValueOf(s.Of(row.config))
	}
	return reflect.ValueOf(s.Text(row.config))
}

// WriteCSV writes the rows as CSV with a header, numbers in full precision.
func (f *Frame) WriteCSV(w io.Writer) error {
	rows := csv.NewWriter(w)
	var head []string
	for _, field := range frameFields {
		head = append(head, field.Tag.Get("parquet"))
	}
	for _, s := range f.Settings {
		head = append(head, s.Path)
	}
	rows.Write(head) // its error stays for Error
	for _, row := range f.Rows {
		var line []string
		for _, field := range frameFields {
			line = append(line, text(reflect.ValueOf(row).FieldByIndex(field.Index)))
		}
		for _, s := range f.Settings {
			line = append(line, text(row.value(s)))
		}
		rows.Write(line)
	}
	rows.Flush()
	return rows.Error()
}

// text is a value in full precision.
func text(v reflect.Value) string {
	if v.CanFloat() {
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// WriteParquet writes the rows as a Parquet file. Columns of settings have their types.
func (f *Frame) WriteParquet(w io.Writer) error {
	fields := slices.Clone(frameFields)
	for i, s := range f.Settings {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("Setting", i), Type: FrameRow{}.value(s).Type(),
			Tag: reflect.StructTag(fmt.Sprintf(`parquet:"%s"`, s.Path))})
	}
	t := reflect.StructOf(fields)
	rows := parquet.NewWriter(w, parquet.SchemaOf(reflect.Zero(t).Interface()), parquet.Compression(&parquet.Zstd))
	for _, row := range f.Rows {
		v := reflect.New(t)
		for i, field := range frameFields {
			v.Elem().Field(i).Set(reflect.ValueOf(row).FieldByIndex(field.Index))
		}
		for i, s := range f.Settings {
			v.Elem().Field(len(frameFields) + i).Set(row.value(s))
		}
		if err := rows.Write(v.Interface()); err != nil {
			return err
		}
	}
	return rows.Close()
}
