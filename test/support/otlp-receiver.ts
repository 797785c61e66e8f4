/** A collector for tests: takes OTLP over HTTP as JSON (https://opentelemetry.io/docs/specs/otlp/) and keeps the spans. */
import { startReceiver } from '#test/support/receiver.ts';

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  /** `INTERNAL`, `SERVER`, `CLIENT`, `PRODUCER` or `CONSUMER`. */
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  /** null: the root of the trace. */
  readonly parentId: string | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

interface OtlpReceiver {
  /** Address for `MEDIAJOBS_TRACES_URL`. */
  readonly url: string;
  readonly spans: () => readonly ReceivedSpan[];
  /** Bodies of all requests. */
  readonly text: () => string;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly doubleValue?: number };
}

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const ERROR = 2;

/** Listens on loopback until the file's tests have ended. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const { url, received } = await startReceiver({
    tls: false,
    respond: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  });
  const bodies = (): string[] => received.map(({ body }) => body.toString('utf8'));
  return {
    url: `${url}/v1/traces`,
    spans: () => bodies().flatMap((body) => spansOf(JSON.parse(body) as OtlpRequest)),
    text: () => bodies().join('\n'),
  };
}

/** Returns the spans of a trace as lines, each below its parent and in the order of their starts. */
export function treeOf(spans: readonly ReceivedSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId).toSorted((a, b) => a.startedAt - b.startedAt);
  const ids = new Set(own.map(({ spanId }) => spanId));
  const below = (isChild: (span: ReceivedSpan) => boolean, depth: number): string[] =>
    own
      .filter((span) => isChild(span))
      .flatMap(({ name, spanId }) => [
        `${'  '.repeat(depth)}${name}`,
        ...below(({ parentId }) => parentId === spanId, depth + 1),
      ]);
  return below(({ parentId }) => parentId === null || !ids.has(parentId), 0);
}

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        name: span.name,
        kind: KINDS[span.kind] ?? '',
        traceId: span.traceId,
        spanId: span.spanId,
        parentId: (span.parentSpanId ?? '') === '' ? null : (span.parentSpanId ?? null),
        startedAt: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
        endedAt: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
        attributes: attributesOf(span.attributes),
        isError: span.status.code === ERROR,
      })),
    );
  });
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.doubleValue ?? (value.intValue === undefined ? undefined : Number(value.intValue)),
    ]),
  );
}
