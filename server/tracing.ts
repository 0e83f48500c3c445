// Sends the spans of this process to an OpenTelemetry collector over OTLP/HTTP. Address, headers, compression and timeout are
// read by the exporter from its standard variables (OTEL_EXPORTER_OTLP_*), the service's name and attributes by the resource.
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
import { wantSpans } from '../platform/tracing.ts';

/** From now on spans are sent: `ratio` of the traces that begin here, and of those that callers began as they decided. */
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
  wantSpans();
  return {
    /** Sends what is left. A collector that is away does not keep the process from ending. */
    async [Symbol.asyncDispose]() {
      await provider.shutdown().catch(() => {});
    },
  };
}
