// Sends the spans of this process to an OpenTelemetry collector over OTLP/HTTP. The exporter reads address, headers, compression
// and timeout from its standard variables (OTEL_EXPORTER_OTLP_*); the resource reads the service's name and attributes.
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { enableSpans } from '../platform/tracing.ts';

/** Starts sending spans: this share (`ratio`) of the traces that begin here. Traces begun by callers follow their decision. */
export function startTracing(ratio: number): AsyncDisposable {
  const named = resourceFromAttributes({ 'service.name': 'albaran' });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  enableSpans();
  return {
    /** Sends the remaining spans. An unavailable collector does not keep the process from ending. */
    async [Symbol.asyncDispose]() {
      await provider.shutdown().catch(() => {});
    },
  };
}
