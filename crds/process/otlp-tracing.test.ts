import { describe, expect, it } from 'vitest';
import { makeLog } from '#crds/process/log.ts';
import { startTracing } from '#crds/process/start-tracing.ts';
import { isSampled, type Tracing } from '#crds/process/tracing.ts';
import { startOtlpReceiver, type ReceivedSpan } from '#test/support/otlp-receiver.ts';
import { startReceiver } from '#test/support/receiver.ts';

const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparentOf = ({ traceId, spanId }: typeof CALLER, flags = '01'): string => `00-${traceId}-${spanId}-${flags}`;

/** Runs the work with a tracing. Returns the spans that arrived by its end, and the lines of the log. */
async function record(
  work: (tracing: Tracing) => void,
  { share = 1, url }: { share?: number; url?: string } = {},
): Promise<{ spans: readonly ReceivedSpan[]; logged: string[] }> {
  const receiver = await startOtlpReceiver();
  const logged: string[] = [];
  const log = makeLog('test', 'info', { write: (line: string) => void logged.push(line) });
  const config = { MEDIAJOBS_TRACES_URL: url ?? receiver.url, MEDIAJOBS_TRACES_SHARE: share };
  const tracing = await startTracing({ log }, 'test', config);
  if (tracing === null) throw new Error('tracing is off');
  work(tracing);
  await tracing.close();
  return { spans: receiver.spans(), logged };
}

describe('a span', () => {
  it('continues the trace of its parent, with its times, attributes and error', async () => {
    const [startedAt, endedAt] = [new Date('2026-01-01T00:00:00.250Z'), new Date('2026-01-01T00:00:01Z')];
    const { spans } = await record((tracing) =>
      tracing
        .start({ name: 'work', kind: 'client', parent: traceparentOf(CALLER), startedAt })
        .end({ endedAt, attributes: { count: 2, word: 'yes', none: undefined }, error: 'timeout' }),
    );
    expect(spans).toEqual([
      {
        service: 'mediajobs-test',
        name: 'work',
        kind: 'CLIENT',
        traceId: CALLER.traceId,
        spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
        parentId: CALLER.spanId,
        startedAt: startedAt.getTime(),
        endedAt: endedAt.getTime(),
        attributes: { count: 2, word: 'yes', 'error.type': 'timeout' },
        isError: true,
      },
    ]);
  });

  it('has the given id, and is the parent that its context names', async () => {
    const { spans } = await record((tracing) => {
      const parent = tracing.start({ name: 'parent', parent: traceparentOf(CALLER), id: 'aaaaaaaaaaaaaaaa' });
      tracing.start({ name: 'child', parent: parent.traceparent }).end({ error: null });
      parent.end({ error: null });
    });
    const [child, parent] = spans;
    expect(parent).toMatchObject({ name: 'parent', spanId: 'aaaaaaaaaaaaaaaa', kind: 'INTERNAL', isError: false });
    expect(child).toMatchObject({ name: 'child', parentId: 'aaaaaaaaaaaaaaaa', traceId: CALLER.traceId });
    expect(child?.spanId).not.toBe(parent?.spanId);
  });

  it.each([
    ['no context', null],
    ['a malformed context', 'not a traceparent'],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${CALLER.spanId}-01`],
    ['a version that is reserved', `ff-${CALLER.traceId}-${CALLER.spanId}-01`],
  ])('begins a trace with %s', async (_what, parent) => {
    const { spans } = await record((tracing) => tracing.start({ name: 'root', parent }).end({ error: null }));
    expect(spans).toMatchObject([{ name: 'root', parentId: null }]);
    expect(spans[0]?.traceId).not.toBe(CALLER.traceId);
  });
});

describe('what is recorded', () => {
  it('is decided by the flag of the caller, in both directions', async () => {
    const contexts: string[] = [];
    const { spans } = await record(
      (tracing) => {
        for (const flags of ['00', '01']) {
          const span = tracing.start({ name: flags, parent: traceparentOf(CALLER, flags) });
          contexts.push(span.traceparent);
          span.end({ error: null });
        }
      },
      { share: 0 },
    );
    expect(spans.map(({ name }) => name)).toEqual(['01']);
    expect(contexts.map((context) => isSampled(context))).toEqual([false, true]);
    expect(contexts[0]).toMatch(new RegExp(`^00-${CALLER.traceId}-[0-9a-f]{16}-00$`));
  });

  it.each([
    [0, 0],
    [1, 20],
  ])('is the share %d of traces without a caller', async (share, expected) => {
    const { spans } = await record(
      (tracing) => {
        for (let made = 0; made < 20; made += 1) tracing.start({ name: 'root', parent: null }).end({ error: null });
      },
      { share },
    );
    expect(spans).toHaveLength(expected);
  });
});

describe('a collector', () => {
  it('that refuses spans is one line in the log', async () => {
    const refusing = await startReceiver({ tls: false, respond: (response) => void response.writeHead(400).end() });
    // A batch has 512 spans: these are two.
    const { logged } = await record(
      (tracing) => {
        for (let made = 0; made < 600; made += 1) tracing.start({ name: 'lost', parent: null }).end({ error: null });
      },
      { url: `${refusing.url}/v1/traces` },
    );
    expect(refusing.received).toHaveLength(2);
    expect(logged.filter((line) => line.includes('sending spans failed'))).toHaveLength(1);
  });

  it('that is not there does not hold up the end of the process', async () => {
    const { logged } = await record((tracing) => tracing.start({ name: 'lost', parent: null }).end({ error: null }), {
      url: 'http://127.0.0.1:1/v1/traces',
    });
    expect(logged.join('')).toContain('the last spans were not sent');
  });
});
