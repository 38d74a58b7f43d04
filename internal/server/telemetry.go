package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	export "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"plimsoll.dev/internal/api"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/queue"
)

// telemetry is what operators look at: metrics that are scraped, traces that are
// sent to a collector when there is one, and logs. Nothing global is set.
type telemetry struct {
	metrics  http.Handler
	tracer   trace.Tracer
	requests metric.Float64Histogram
	jobs     metric.Float64Histogram
	stop     func(context.Context) error
}

func newTelemetry(ctx context.Context, conf *Config, version string) (*telemetry, error) {
	about := resource.NewSchemaless(attribute.String("service.name", "plimsoll"), attribute.String("service.version", version))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := export.New(export.WithRegisterer(registry))
	if err != nil {
		return nil, fmt.Errorf("set up the metrics: %w", err)
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(about))
	t := &telemetry{
		metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), tracer: noop.NewTracerProvider().Tracer("plimsoll"), stop: meters.Shutdown,
	}
	meter := meters.Meter("plimsoll.dev")
	buckets := metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60)
	if t.requests, err = meter.Float64Histogram("plimsoll.request.duration", metric.WithUnit("s"), buckets,
		metric.WithDescription("How long requests took, by operation and status.")); err != nil {
		return nil, fmt.Errorf("set up the metrics: %w", err)
	}
	if t.jobs, err = meter.Float64Histogram("plimsoll.job.duration", metric.WithUnit("s"), buckets,
		metric.WithDescription("How long attempts of jobs took, by kind and outcome.")); err != nil {
		return nil, fmt.Errorf("set up the metrics: %w", err)
	}
	if conf.TraceURL == "" {
		return t, nil
	}
	sender, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(conf.TraceURL))
	if err != nil {
		return nil, fmt.Errorf("set up the traces: %w", err)
	}
	traces := sdktrace.NewTracerProvider(sdktrace.WithBatcher(sender), sdktrace.WithResource(about))
	t.tracer = traces.Tracer("plimsoll.dev")
	t.stop = func(ctx context.Context) error {
		if err := traces.Shutdown(ctx); err != nil {
			return err
		}
		return meters.Shutdown(ctx)
	}
	return t, nil
}

// seen records a request that was answered.
func (t *telemetry) seen(ctx context.Context, op string, status int, took time.Duration) {
	if op == "" {
		op = "none"
	}
	t.requests.Record(ctx, took.Seconds(), metric.WithAttributes(
		attribute.String("operation", op), attribute.String("status", strconv.Itoa(status)),
	))
}

// traced gives every request a span, and believes nobody's trace id: a caller
// cannot write into our traces.
func (t *telemetry) traced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, span := t.tracer.Start(r.Context(), "http "+r.Method, trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
		span.SetAttributes(attribute.String("request.id", w.Header().Get("Request-Id")))
	})
}

// kind wraps the use case of a job with a span, a metric and a line in the log,
// for everybody to see when it failed.
func (t *telemetry) kind(k queue.Kind, log *slog.Logger) queue.Kind {
	work := k.Work
	k.Work = func(ctx context.Context, a pipeline.Attempt) error {
		ctx, span := t.tracer.Start(pipeline.WithTrace(ctx), "job "+string(a.Kind), trace.WithAttributes(
			attribute.String("chain", string(a.Chain)), attribute.Int("attempt", a.Number),
		))
		defer span.End()
		start := time.Now()
		err := work(ctx, a)
		outcome, level := "done", slog.LevelDebug
		attrs := []slog.Attr{slog.String("job", string(a.Kind)), slog.String("chain", string(a.Chain)), slog.Int("attempt", a.Number)}
		if err != nil {
			outcome, level = "failed", slog.LevelWarn
			if again(err) {
				outcome, level = "again", slog.LevelDebug
			}
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		span.SetAttributes(attribute.String("correlation_id", pipeline.TraceOf(ctx)))
		log.LogAttrs(ctx, level, "job", append(attrs, slog.String("outcome", outcome))...)
		t.jobs.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(
			attribute.String("kind", string(a.Kind)), attribute.String("outcome", outcome),
		))
		return err
	}
	return k
}

// newLog is the log of the service. Every line of a request names it, and the
// path it is about.
func newLog(conf *Config, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(strings.ToUpper(conf.LogLevel))) // the table admits nothing else
	options := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, options)
	if conf.LogFormat == "json" {
		h = slog.NewJSONHandler(w, options)
	}
	return slog.New(requestHandler{h})
}

// requestHandler adds the id of the request to what is logged in its course, and
// the correlation id of what it, or a job, works on.
type requestHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requestHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := api.RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	if id := pipeline.TraceOf(ctx); id != "" {
		r.AddAttrs(slog.String("correlation_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h requestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
}
