package studio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// choice is a result of a prediction.
type choice struct {
	From  string              `json:"from_name"`
	To    string              `json:"to_name"`
	Type  string              `json:"type"`
	Score float64             `json:"score"`
	Value map[string][]string `json:"value"`
}

// reply is a prediction in Label Studio's format.
type reply struct {
	Version string   `json:"model_version"`
	Score   float64  `json:"score"`
	Result  []choice `json:"result"`
}

// predict predicts the images of tasks.
func (s *Server) predict(_ http.ResponseWriter, r *http.Request) (any, error) {
	q, err := readPredict(r)
	if err != nil {
		return nil, err
	}
	c, err := readConfig(q.config, s.o.Classes)
	if err != nil {
		return nil, fmt.Errorf("project %s: %w", q.project, err)
	}
	p := prediction{s: s, m: s.o.Model(), c: c, q: q, replies: make([]reply, len(q.tasks))}
	if err := p.all(r.Context()); err != nil {
		return nil, err
	}
	return map[string]any{"results": p.replies}, nil
}

// prediction is a request for predictions.
type prediction struct {
	s       *Server
	m       Model
	c       *control
	q       predictRequest
	budget  budget
	replies []reply
	unread  int // tasks without a prediction
}

// log logs why a task has no prediction.
func (p *prediction) log(task int, err error) {
	if p.unread++; p.budget.line() {
		p.s.o.Log("predict: project %.100s, task %d: %v", p.q.project, task, err)
	}
}

// all fills in the predictions. Downloaded images are predicted one by one, so that few of them
// are in memory.
func (p *prediction) all(ctx context.Context) error {
	var own []Image
	var at []int
	version := p.m.Version()
	for i, t := range p.q.tasks {
		p.replies[i] = reply{version, 1, []choice{}}
		image, err := p.one(ctx, i)
		var much tooMuch
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &much) && p.budget.take(0, 0) != nil, errors.Is(err, errModel):
			return err
		case err != nil:
			p.log(t.ID, err)
		case image.ID != "":
			own, at = append(own, image), append(at, i)
		}
	}
	err := p.show(ctx, own, at)
	if p.budget.lines.Load() > mostLines {
		p.s.o.Log("predict: project %.100s: %d tasks have no prediction", p.q.project, p.unread)
	}
	return err
}

// one finds the image of a task, and predicts it if it is none of the data set.
func (p *prediction) one(ctx context.Context, i int) (Image, error) {
	var data map[string]json.RawMessage
	if raw := p.q.tasks[i].Data; raw != nil {
		if err := json.Unmarshal(raw, &data); err != nil {
			return Image{}, err
		}
	}
	if err := acquire(ctx, p.s.fetching); err != nil {
		return Image{}, err
	}
	defer release(p.s.fetching)
	image, err := p.s.find(ctx, data, p.c, &p.budget)
	if err == nil && image.ID == "" {
		err = p.show(ctx, []Image{image}, []int{i})
	}
	return image, err
}

// errModel is wrapped by errors of a model.
var errModel = errors.New("the model fails")

// show asks the model about the images of tasks.
func (p *prediction) show(ctx context.Context, images []Image, at []int) error {
	predicted, err := p.m.Predict(ctx, images)
	if err != nil {
		return fmt.Errorf("%w: %w", errModel, err)
	}
	for k, v := range predicted {
		a := &p.replies[at[k]]
		if a.Score = v.Score; v.Failed != nil {
			p.log(p.q.tasks[at[k]].ID, v.Failed)
		} else if v.Class != "" {
			a.Result = []choice{{p.c.From, p.c.To, "choices", v.Probability, map[string][]string{"choices": {v.Class}}}}
		}
	}
	return nil
}
