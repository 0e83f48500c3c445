// Spans for OpenTelemetry. What is written here against its API costs next to nothing until a process starts an exporter
// (server/tracing.ts); then a request, the operations in it and the statements of those are one trace.
import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api';

const tracer = trace.getTracer('albaran');
/** While nobody asks for spans, a call is spared even the empty ones. */
let wanted = false;

/** Spans are made from now on. */
export function wantSpans(): void {
  wanted = true;
}

/** Runs `work` inside a span, which ends with it; a failure is marked on the span and passed on. */
export function traced<T>(
  name: string,
  { kind = SpanKind.INTERNAL, attributes }: { kind?: SpanKind; attributes: Attributes },
  work: () => Promise<T>,
): Promise<T> {
  if (!wanted) return work();
  return tracer.startActiveSpan(name, { kind, attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

type Headers = Record<string, string | string[] | undefined>;

const getter: TextMapGetter<Headers> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name],
};

/** Starts a request's span, in the trace that its `traceparent` names if it brings one, and goes on inside it. */
export function traceRequest(headers: Headers, attributes: Attributes, goOn: () => void): Span {
  const caller = propagation.extract(context.active(), headers, getter);
  const span = tracer.startSpan('HTTP', { kind: SpanKind.SERVER, attributes }, caller);
  context.with(trace.setSpan(caller, span), goOn);
  return span;
}
