import { describe, expect, it } from 'vitest';
import { watchEvents, type WatchEvent } from '#crds/kube/watch-stream.ts';
import { line, mockObject } from '#test/support/mock-api-server.ts';

const a = mockObject('a', 1);

async function read(...chunks: (string | Buffer)[]): Promise<WatchEvent[]> {
  async function* stream(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const events: WatchEvent[] = [];
  for await (const event of watchEvents(stream())) events.push(event);
  return events;
}

describe('watchEvents', () => {
  it('yields the events of a chunk and of several chunks, without empty lines', async () => {
    const text = line('ADDED', a) + '\n' + line('DELETED', a);
    expect(await read(text)).toEqual([
      { type: 'ADDED', object: a },
      { type: 'DELETED', object: a },
    ]);
    expect(await read(text.slice(0, 20), text.slice(20, 21), text.slice(21))).toHaveLength(2);
  });

  it('decodes a character in two chunks', async () => {
    const text = Buffer.from(line('ADDED', { metadata: { name: 'é' } }));
    const at = text.indexOf(0xc3) + 1;
    expect(await read(text.subarray(0, at), text.subarray(at))).toMatchObject([
      { object: { metadata: { name: 'é' } } },
    ]);
  });

  it('ignores a truncated last line', async () => {
    expect(await read(line('ADDED', a), line('MODIFIED', a).trimEnd())).toHaveLength(1);
  });

  it.each(['hello\n', 'null\n', '{"type":"HELLO","object":{}}\n', '{"type":"ADDED","object":"a"}\n'])(
    'throws for the line %j',
    async (text) => {
      await expect(read(text)).rejects.toMatchObject({ reason: 'BrokenStream' });
    },
  );

  it('throws for a line that is longer than any object', async () => {
    const megabyte = 'x'.repeat(1024 ** 2);
    await expect(read(...Array.from({ length: 9 }, () => megabyte))).rejects.toMatchObject({ reason: 'BrokenStream' });
  });
});
