/** Tracing with the SDK of OpenTelemetry, the only file that imports it. It is imported when tracing is on. */
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context, type Span } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Log } from '#crds/process/log.ts';
import type { NewSpan, OpenSpan, SpanEnd, Tracing } from '#crds/process/tracing.ts';

interface OtlpOptions {
  /** Name of the process. */
  readonly name: string;
  readonly url: string;
  /** Share of the traces without a parent that are recorded. */
  readonly share: number;
}

/** Maximum time for which the end of a process waits until its spans are sent, in milliseconds. */
const CLOSE_MS = 3000;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Returns a tracing that sends spans in batches, every five seconds. Spans that cannot be sent are dropped. */
export function makeOtlpTracing({ log }: { log: Log }, { name, url, share }: OtlpOptions): Tracing {
  let nextId: string | null = null;
  const random = new RandomIdGenerator();
  const exporter = loggingExporter(log, new OTLPTraceExporter({ url }));
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `mediajobs-${name}`, 'service.namespace': 'mediajobs' }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    idGenerator: {
      generateTraceId: () => random.generateTraceId(),
      generateSpanId: () => nextId ?? random.generateSpanId(),
    },
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('mediajobs');
  return {
    start({ name: spanName, kind, parent, id, startedAt }: NewSpan): OpenSpan {
      const options = {
        kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
        ...(startedAt === undefined ? {} : { startTime: startedAt }),
      };
      nextId = id ?? null;
      const span = tracer.startSpan(spanName, options, contextOf(parent));
      nextId = null;
      return { traceparent: traceparentOf(span), end: (end) => endSpan(span, end) };
    },
    async close() {
      const waiting = new AbortController();
      const sent = provider.shutdown().then(
        () => true,
        () => false,
      );
      const isSent = await Promise.race([sent, delay(CLOSE_MS, false, { signal: waiting.signal })]);
      waiting.abort();
      if (!isSent) log.warn('the last spans were not sent');
    },
  };
}

function contextOf(parent: string | null): Context {
  const context = parent === null ? null : parseTraceParent(parent);
  return context === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...context, isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${(traceFlags & TraceFlags.SAMPLED).toString(16)}`;
}

function endSpan(span: Span, { endedAt, attributes = {}, error }: SpanEnd): void {
  span.setAttributes(attributes);
  if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
  span.end(endedAt);
}

/** Returns the exporter with a line in the log when spans cannot be sent, and when they can be sent again. */
function loggingExporter(log: Log, exporter: SpanExporter): SpanExporter {
  let isFailing = false;
  const note = ({ code, error }: ExportResult): void => {
    const failed = code === ExportResultCode.FAILED;
    if (failed && !isFailing) log.warn({ err: error }, 'sending spans failed');
    if (!failed && isFailing) log.info('spans are sent again');
    isFailing = failed;
  };
  return {
    export: (spans, onResult) =>
      exporter.export(spans, (result) => {
        note(result);
        onResult(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
