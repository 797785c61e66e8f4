/**
 * Spans of OpenTelemetry. Work that several processes do is one trace: the context of its span is stored as a
 * `traceparent` (https://www.w3.org/TR/trace-context/#traceparent-header), and a span of another process names it as its
 * parent. Spans contain ids, numbers and words from closed sets, never texts of callers.
 */

/** Values of attributes, by names of https://opentelemetry.io/docs/specs/semconv/ or below `mediajobs.`. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface NewSpan {
  readonly name: string;
  /** Default: internal. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** `traceparent` of the parent, possibly malformed; null: the span begins a trace. */
  readonly parent: string | null;
  /** Id of the span, 16 hexadecimal digits; default: a random one. */
  readonly id?: string;
  /** Default: now. */
  readonly startedAt?: Date;
}

export interface SpanEnd {
  /** Default: now. */
  readonly endedAt?: Date;
  readonly attributes?: Attributes;
  /** Value of `error.type`, from a closed set; null: no error. */
  readonly error: string | null;
}

export interface OpenSpan {
  /** Context of the span, for its children in this and other processes. */
  readonly traceparent: string;
  end(end: SpanEnd): void;
}

export interface Tracing {
  start(span: NewSpan): OpenSpan;
  /** Sends the ended spans, for a few seconds at most. */
  close(): Promise<void>;
}

/** Returns whether the trace of a span that was started here is recorded. */
export function isSampled(traceparent: string): boolean {
  return traceparent.endsWith('-01');
}
