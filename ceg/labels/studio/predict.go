package studio

import (
	"context"
	"encoding/json"
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

// mostLines bounds the lines about tasks that a request adds to the log.
const mostLines = 20

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
	m := s.o.Model()
	replies := make([]reply, len(q.tasks))
	var ids []string
	var at []int // the tasks of these images
	var fetched int64
	for i, t := range q.tasks {
		replies[i] = reply{m.Version(), 1, []choice{}}
		var data map[string]json.RawMessage
		id, err := "", error(nil)
		if t.Data != nil {
			err = json.Unmarshal(t.Data, &data)
		}
		if err == nil {
			id, err = s.find(r.Context(), data, c, &fetched)
		}
		if r.Context().Err() != nil {
			return nil, context.Cause(r.Context())
		}
		if err == nil {
			ids, at = append(ids, id), append(at, i)
		} else if i-len(ids) < mostLines {
			s.o.Log("predict: project %.100s, task %d: %v", q.project, t.ID, err)
		}
	}
	if n := len(replies) - len(ids); n > mostLines {
		s.o.Log("predict: project %.100s: %d tasks have no prediction", q.project, n)
	}
	predicted, err := m.Predict(r.Context(), ids)
	if err != nil {
		return nil, fmt.Errorf("the model fails: %w", err)
	}
	for k, v := range predicted {
		a := &replies[at[k]]
		if a.Score = v.Score; v.Class != "" {
			a.Result = []choice{{c.From, c.To, "choices", v.Probability, map[string][]string{"choices": {v.Class}}}}
		}
	}
	return map[string]any{"results": replies}, nil
}
