package result

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// sample returns the record of an epoch on two source domains and a target, with
// the given numbers of right answers out of 8 (source validation) and 10 (target).
func sample(epoch, labels, queried, val, target int) Record {
	return Record{
		Epoch: epoch, Steps: 5, StepsTotal: 5 * (epoch + 1), Labels: labels, Queried: queried,
		Loss:         Losses{{"ce", 1.5}, {"ac", 0.25}, {"eg_intra", 0.5}, {"eg_inter", 1}, {"eg", 0.75}, {"ss", 1.975}, {"dd", 0.1}},
		LearningRate: LearningRates{Backbone: 0.003, ClassHead: 0.01, DomainHead: 0.01},
		Accuracy: []Accuracy{
			{Domain: "print", Split: ValSplit, Tally: Tally{Correct: val / 2, Total: 4}},
			{Domain: "sketch", Split: ValSplit, Tally: Tally{Correct: val - val/2, Total: 4}},
			{Domain: "photo", Split: TestSplit, Tally: Tally{Correct: target, Total: 10}},
		},
		PseudoLabel: PseudoLabel{Correct: 2, Accepted: 4, Total: 16},
		Reliable:    Tally{Correct: 3, Total: 6},
		Time:        Time{Seconds: 1.5, Train: 1, Wait: 0.125, Eval: 0.25, Query: 0.125},
	}
}

const sampleLine = `{"epoch":0,"steps":5,"steps_total":5,"labels":12,"queried":4,` +
	`"loss":{"ce":1.5,"ac":0.25,"eg_intra":0.5,"eg_inter":1,"eg":0.75,"ss":1.975,"dd":0.1},` +
	`"learning_rate":{"backbone":0.003,"class_head":0.01,"domain_head":0.01},` +
	`"accuracy":[{"domain":"print","split":"val","tally":[3,4]},{"domain":"sketch","split":"val","tally":[3,4]},` +
	`{"domain":"photo","split":"test","tally":[7,10]}],` +
	`"pseudo_label":{"correct":2,"kept":4,"total":16},"reliable":[3,6],` +
	`"time":{"seconds":1.5,"train":1,"wait":0.125,"eval":0.25,"query":0.125}}` + "\n"

func TestRecordLine(t *testing.T) {
	got := fatal.Get(sample(0, 12, 4, 6, 7).Line())(t)
	if string(got) != sampleLine {
		t.Errorf("got  %s\nwant %s", got, sampleLine)
	}
}

func TestRecordLineRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Record)
		want   string
	}{
		{"negative labels", func(r *Record) { r.Labels = -1 }, "labels is -1"},
		{"total below steps", func(r *Record) { r.StepsTotal = 4 }, "steps_total is 4"},
		{"NaN", func(r *Record) { r.Loss[1].Value = math.NaN() }, "NaN"},
		{"infinity", func(r *Record) { r.Time.Seconds = math.Inf(1) }, "Inf"},
		{"kept above total", func(r *Record) { r.PseudoLabel.Accepted = 17 }, "want 0 <= correct + unknown <= kept <= total"},
		{"correct above total", func(r *Record) { r.Reliable.Correct = 7 }, "[7,6]"},
		{"unknown split", func(r *Record) { r.Accuracy[0].Split = "dev" }, `accuracy of print has split "dev"`},
		{"twice", func(r *Record) { r.Accuracy[1].Domain = "print" }, "accuracy has print val twice"},
		{"empty split", func(r *Record) { r.Accuracy[0].Tally = Tally{} }, "accuracy of print val counts no examples"},
		{"unknown above kept", func(r *Record) { r.PseudoLabel.Unknown = 3 }, "3 unknown of 4 kept"},
		{"nameless domain", func(r *Record) { r.Accuracy[0].Domain = "" }, "without a domain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := sample(0, 12, 4, 6, 7)
			tt.change(&r)
			line, err := r.Line()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q in it", err, tt.want)
			}
			if line != nil {
				t.Errorf("line is %q beside an error", line)
			}
		})
	}
}

func lines(t *testing.T, records ...Record) string {
	t.Helper()
	var b strings.Builder
	for _, r := range records {
		line := fatal.Get(r.Line())(t)
		b.Write(line)
	}
	return b.String()
}

func TestReadRecords(t *testing.T) {
	want := []Record{sample(0, 12, 4, 6, 7), sample(1, 16, 0, 5, 8)}
	text := lines(t, want...)
	fsys := fstest.MapFS{
		"whole": {Data: []byte(text)}, "torn": {Data: []byte(text + sampleLine[:40])}, "empty": {},
	}
	for _, tt := range []struct {
		name string
		tail Tail
		want []Record
	}{
		{"whole", WholeFile, want}, {"whole", WholeLines, want}, {"torn", WholeLines, want},
		{"empty", WholeFile, nil}, {"empty", WholeLines, nil},
	} {
		got, length, err := ReadRecords(fsys, tt.name, tt.tail)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("ReadRecords(%s, %d) = %v, %v", tt.name, tt.tail, got, err)
		}
		if wantLength := len(lines(t, tt.want...)); int(length) != wantLength {
			t.Errorf("ReadRecords(%s, %d) read %d bytes, want %d", tt.name, tt.tail, length, wantLength)
		}
	}
	_, _, err := ReadRecords(fsys, "torn", WholeFile)
	if err == nil || !strings.HasPrefix(err.Error(), "torn:3: half-written line") {
		t.Errorf("a torn file gives %v", err)
	}
}

func TestReadRecordsRefuses(t *testing.T) {
	second := lines(t, sample(1, 16, 0, 5, 8))
	for _, tt := range []struct{ name, text, want string }{
		{"unknown field", strings.Replace(sampleLine, `"steps":5`, `"stops":5,"steps":5`, 1), `f:1: unknown field "stops"`},
		{"missing field", strings.Replace(sampleLine, `"labels":12,`, "", 1), `f:1: missing field "labels"`},
		{"missing inner field", strings.Replace(sampleLine, `"kept":4,`, "", 1), `f:1: missing field "pseudo_label.kept"`},
		{"a loss twice", strings.Replace(sampleLine, `"ac"`, `"ce"`, 1), "f:1: loss: "},
		{"missing field of an item", strings.Replace(sampleLine, `"domain":"sketch",`, "", 1), `f:1: missing field "accuracy.1.domain"`},
		{"other case", strings.Replace(sampleLine, `"labels"`, `"Labels"`, 1), `f:1: missing field "labels"`},
		{"wrong type", strings.Replace(sampleLine, `"labels":12`, `"labels":"12"`, 1), "f:1: "},
		{"two values", strings.TrimSpace(sampleLine) + sampleLine, "f:1: there is more after the JSON value"},
		{"blank line", "\n" + sampleLine, "f:1: the JSON ends too early"},
		{"cut line", sampleLine[:20] + "\n", "f:1: the JSON ends too early"},
		{"bad tally", strings.Replace(sampleLine, "[7,10]", "[7]", 1), "f:1: tally is [7], want [correct,total]"},
		{"impossible tally", strings.Replace(sampleLine, "[7,10]", "[11,10]", 1), "f:1: tally is [11,10]"},
		{"late start", second, "f:1: epoch is 1, want 0"},
		{"gap", sampleLine + lines(t, sample(2, 16, 0, 5, 8)), "f:2: epoch is 2, want 1"},
		{"repeated", sampleLine + sampleLine, "f:2: epoch is 0, want 1"},
		{"labels from nowhere", sampleLine + lines(t, sample(1, 17, 0, 5, 8)), "f:2: labels is 17, want the 12 of epoch 0 and the 4 queried after it"},
		{"steps", sampleLine + strings.Replace(second, `"steps":5`, `"steps":6`, 1), "f:2: steps_total is 10, want 5+6"},
		{"changed", sampleLine + strings.Replace(second, `"queried"`, `"changed":1,"queried"`, 1), "f:2: labels is 16, want the 12 of epoch 0 and the 4 queried after it, changed by 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ReadRecords(fstest.MapFS{"f": {Data: []byte(tt.text)}}, "f", WholeFile)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error is %v, want it to begin with %q", err, tt.want)
			}
		})
	}
}

func FuzzReadRecords(f *testing.F) {
	f.Add([]byte(sampleLine))
	f.Add([]byte(sampleLine + sampleLine[:9]))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, length, err := ReadRecords(fstest.MapFS{"f": {Data: data}}, "f", WholeLines)
		if err != nil {
			return
		}
		if int(length) > len(data) || len(data) > 0 && strings.Contains(string(data[length:]), "\n") {
			t.Fatalf("read %d of %d bytes", length, len(data))
		}
		// What was accepted can be written, and reads back as the same.
		again, _, err := ReadRecords(fstest.MapFS{"f": {Data: []byte(lines(t, records...))}}, "f", WholeFile)
		if err != nil || !reflect.DeepEqual(again, records) {
			t.Fatalf("wrote %v, read %v, %v", records, again, err)
		}
	})
}

func TestTally(t *testing.T) {
	for _, tt := range []struct {
		a, b Tally
		want int
	}{
		{Tally{Correct: 1, Total: 3}, Tally{Correct: 2, Total: 6}, 0}, {Tally{Correct: 1, Total: 3}, Tally{Correct: 333333333, Total: 1000000000}, 1},
		{Tally{Correct: 0, Total: 5}, Tally{}, 0}, {Tally{Correct: 1, Total: 5}, Tally{}, 1}, {Tally{}, Tally{Correct: 1, Total: 5}, -1},
	} {
		if got := tt.a.Compare(tt.b); got != tt.want {
			t.Errorf("%v.Compare(%v) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	if got := (Tally{}).Share(); got != 0 {
		t.Errorf("share of nothing is %v", got)
	}
	if got := (PseudoLabel{Correct: 3, Accepted: 4, Total: 16}); got.Accuracy() != 0.75 || got.KeepRate() != 0.25 {
		t.Errorf("accuracy %v, keep rate %v", got.Accuracy(), got.KeepRate())
	}
	if got := (PseudoLabel{Correct: 3, Accepted: 8, Total: 16, Unknown: 4}); got.Accuracy() != 0.75 || got.KeepRate() != 0.5 {
		t.Errorf("with unknown ones: accuracy %v, keep rate %v", got.Accuracy(), got.KeepRate())
	}
	var sum Tally
	for _, truth := range []int{1, 2, -1, 1, -1} {
		sum.Count(1, truth)
	}
	text, err := json.Marshal(sum)
	var back Tally
	if err := json.Unmarshal(text, &back); err != nil || string(text) != "[2,3,2]" || back != sum || sum.String() != "2/3 of 5" || sum.Share() != 2./3 {
		t.Errorf("%v is %s, and then %v, %v", sum, text, back, err)
	}
	if again := sum.Add(sum); err != nil || again != (Tally{4, 6, 4}) || again.All() != 10 {
		t.Errorf("twice %v is %v", sum, again)
	}
	for _, bad := range []string{`[1,2,0]`, `[1,2,-1]`, `[1,2,3,4]`, `[1]`, `{"a":1}`, `[-1,2]`, `[3,2]`, `"1/2"`, `null`, `[1.5,2]`} {
		var got Tally
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read as %v", bad, got)
		}
	}
}

func TestLastRound(t *testing.T) {
	q := func(round int, id string) Query { return Query{Round: round, ID: id} }
	before, newest, err := LastRound([]Query{q(0, "a"), q(1, "b"), q(2, "c"), q(2, "d")})
	if err != nil || len(before) != 2 || len(newest) != 2 || newest[0].ID != "c" {
		t.Errorf("before %v, asked %v, %v", before, newest, err)
	}
	if _, _, err := LastRound([]Query{q(0, "a")}); err == nil {
		t.Error("a last round without rounds")
	}
	if rows, err := Rows([]string{"x", "b", "a"}, []Query{q(0, "a"), q(1, "b")}); err != nil || rows[0] != 2 || rows[1] != 1 {
		t.Errorf("rows %v, %v", rows, err)
	}
	if _, err := Rows([]string{"x"}, []Query{q(0, "a")}); err == nil {
		t.Error("a row of an image that is not there")
	}
}
