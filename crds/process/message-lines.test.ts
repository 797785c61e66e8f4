import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJsonLines, readMessageLines, writeJsonLine } from '#crds/process/message-lines.ts';

describe('readMessageLines', () => {
  let stream: PassThrough;
  let lines: string[];
  let tooLong: string[];

  beforeEach(() => {
    stream = new PassThrough();
    lines = [];
    tooLong = [];
    readMessageLines(stream, {
      maxBytes: 10,
      onLine: (line) => {
        lines.push(line);
        if (line === 'stop') stream.destroy();
      },
      onTooLong: (start) => tooLong.push(start),
    });
  });
  const write = async (...chunks: (string | Buffer)[]): Promise<void> => {
    for (const chunk of chunks) stream.emit('data', Buffer.from(chunk));
  };

  it.each([
    ['several in a chunk', ['one\ntwo\n'], ['one', 'two']],
    ['one in several chunks', ['o', 'n', 'e\n'], ['one']],
    ['a character in two chunks', [Buffer.from('é').subarray(0, 1), Buffer.from('é\n').subarray(1)], ['é']],
    ['an empty one', ['\n'], ['']],
    ['the longest', ['0123456789\n'], ['0123456789']],
    ['none without its end', ['one'], []],
  ])('reads lines: %s', async (_what, chunks, expected) => {
    await write(...chunks);
    expect(lines).toEqual(expected);
    expect(tooLong).toEqual([]);
  });

  it.each([
    ['before its end', ['ok\n0123456789x']],
    ['with its end', ['ok\n0123456789x\nlate\n']],
    ['in several chunks', ['ok\n01234', '56789', 'x', 'late\n']],
  ])('stops at a line that is too long: %s', async (_what, chunks) => {
    await write(...chunks);
    expect(lines).toEqual(['ok']);
    expect(tooLong).toEqual(['0123456789x']);
    expect(stream.destroyed).toBe(true);
  });

  it('reads no line after its reader destroyed the stream', async () => {
    await write('stop\nlate\n');
    expect(lines).toEqual(['stop']);
  });
});

describe('readJsonLines', () => {
  let folder: string;
  let near: Socket;
  let far: Socket;
  let close: () => void;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediajobs-lines-'));
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    near = createConnection(join(folder, 'socket'));
    [far] = (await once(server, 'connection')) as [Socket];
    far.on('error', () => undefined);
    close = () => void server.close();
  });
  afterEach(async () => {
    near.destroy();
    far.destroy();
    close();
    await rm(folder, { recursive: true, force: true });
  });

  it('receives the values that the other side writes', async () => {
    const messages: unknown[] = [];
    const received = new Promise<void>((resolve) =>
      readJsonLines(near, { maxBytes: 100, onMessage: (message) => messages.push(message) === 2 && resolve() }),
    );
    writeJsonLine(far, { text: 'a\nb' });
    writeJsonLine(far, [1]);
    await received;
    expect(messages).toEqual([{ text: 'a\nb' }, [1]]);
  });

  it.each([
    ['is not JSON', 'hello\n', SyntaxError],
    ['is too long', 'x'.repeat(101), RangeError],
    ['its reader refuses', '"refused"\n', TypeError],
  ])('destroys the socket after a line that %s', async (_what, text, type) => {
    readJsonLines(near, {
      maxBytes: 100,
      onMessage: () => {
        throw new TypeError('refused');
      },
    });
    const failed = once(near, 'error');
    far.write(text);
    expect((await failed)[0]).toBeInstanceOf(type);
    writeJsonLine(near, {});
    expect(near.destroyed).toBe(true);
  });
});
