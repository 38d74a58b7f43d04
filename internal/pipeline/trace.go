package pipeline

import "context"

// A line in a log should say which path it is about, and who writes it often does
// not know: a surface sees an operation, the queue a job. The use case knows. It
// leaves the correlation id in the context it was called with, where the log finds
// it. A context is that of one call, which one goroutine makes.

type traceKey struct{}

// WithTrace is a context in which use cases leave the correlation id of what they
// work on.
func WithTrace(ctx context.Context) context.Context {
	if ctx.Value(traceKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, new(string))
}

// Traced leaves a correlation id; "" leaves the one that is there.
func Traced(ctx context.Context, id string) {
	if at, ok := ctx.Value(traceKey{}).(*string); ok && id != "" {
		*at = id
	}
}

// TraceOf is the correlation id that was left in a context, "" for none.
func TraceOf(ctx context.Context) string {
	if at, ok := ctx.Value(traceKey{}).(*string); ok {
		return *at
	}
	return ""
}

// correlated is what a reading use case answers that belongs to one path.
type correlated interface{ correlation() string }

func (s *Shown) correlation() string { return s.Correlation }

func (c *ChainShown) correlation() string { return c.Chain.Correlation }

func (r *Run) correlation() string { return r.Correlation }

func (a *Artifact) correlation() string { return a.Correlation }

func (g *GateStatus) correlation() string { return g.Correlation }

func (n *NoteShown) correlation() string { return n.Data.CorrelationID }

func (p *Proof) correlation() string { return p.Gate.Correlation }
