// OpenTelemetry spans. They cost almost nothing until the process starts an exporter (server/tracing.ts). Then a request, its
// operations and their statements are one trace.
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
/** Whether to create spans. Without an exporter even empty ones are skipped. */
let enabled = false;

/** Starts creating spans. */
export function enableSpans(): void {
  enabled = true;
}

/** Runs `work` inside a span. A failure is recorded on the span and rethrown. */
export function traced<T>(
  name: string,
  { kind = SpanKind.INTERNAL, attributes }: { kind?: SpanKind; attributes: Attributes },
  work: () => Promise<T>,
): Promise<T> {
  if (!enabled) return work();
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

/** Starts a request's span, in the trace of its `traceparent` header if it has one, and calls `goOn` inside it. */
export function traceRequest(headers: Headers, attributes: Attributes, goOn: () => void): Span {
  const caller = propagation.extract(context.active(), headers, getter);
  const span = tracer.startSpan('HTTP', { kind: SpanKind.SERVER, attributes }, caller);
  context.with(trace.setSpan(caller, span), goOn);
  return span;
}
