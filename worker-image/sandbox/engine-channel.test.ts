import type { Socket } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import { MESSAGE_BYTES } from '#worker-image/sandbox/engine-protocol.ts';
import { crash, EngineKilled, EngineChannel } from '#worker-image/sandbox/engine-channel.ts';
import { buildReport } from '#test/support/build-media-job.ts';

let owner: Duplex;
let child: Duplex;
let messages: EngineChannel;
let breaches: number;
let percents: number[];
let budgets: number[];

beforeEach(() => {
  [owner, child] = duplexPair();
  [breaches, percents, budgets] = [0, [], []];
  const deps = { log: { warn: () => undefined }, pid: 1, onBreach: () => (breaches += 1) };
  messages = new EngineChannel(deps, owner as Socket);
});

/** Starts to wait for the outcome of a file. */
function outcome(): Promise<WorkerReport> {
  return messages.outcome({
    onProgress: (percent) => percents.push(percent),
    setBudget: (seconds) => budgets.push(seconds),
  });
}

function send(...lines: readonly unknown[]): void {
  for (const line of lines) child.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
}

const done = { type: 'done', report: buildReport(), rssBytes: 5, mustBeReplaced: false };
const refused = {
  type: 'refused',
  code: 'invalid_options',
  message: 'Wrong.',
  param: 'convert.to',
  cause: 'a stack',
  rssBytes: 6,
};

describe('messages of an engine process', () => {
  it('lead to the report after progress and one budget', async () => {
    const report = outcome();
    send({ type: 'budget', cpuSeconds: 7 }, { type: 'progress', percent: 1 }, { type: 'progress', percent: 50 }, done);
    expect(await report).toEqual(done.report);
    expect({ percents, budgets, rssBytes: messages.rssBytes() }).toEqual({
      percents: [1, 50],
      budgets: [7],
      rssBytes: 5,
    });
  });

  it('may repeat progress and budget for the next file', async () => {
    for (const _file of [1, 2]) {
      const report = outcome();
      send({ type: 'budget', cpuSeconds: 7 }, { type: 'progress', percent: 50 }, done);
      await report;
    }
    expect({ percents, budgets, breaches }).toEqual({ percents: [50, 50], budgets: [7, 7], breaches: 0 });
  });

  it('report left files until the process ends', async () => {
    for (const mustBeReplaced of [true, false]) {
      const report = outcome();
      send({ ...done, mustBeReplaced });
      await report;
    }
    expect(messages.mustBeReplaced()).toBe(true);
  });

  it('refuse a file with code, param and cause', async () => {
    const refusal = outcome();
    send(refused);
    const cause = expect.objectContaining({ message: 'a stack' });
    await expect(refusal).rejects.toMatchObject({
      name: 'MediaError',
      code: 'invalid_options',
      param: 'convert.to',
      cause,
    });
    expect(messages.rssBytes()).toBe(6);
  });

  it.each([
    [{ type: 'killed', message: 'out of memory' }, EngineKilled],
    [{ type: 'bug', stack: 'TypeError' }, /bug in an engine process: TypeError/],
  ])('throw for %o', async (message, error) => {
    const failed = outcome();
    send(message);
    await expect(failed).rejects.toThrow(error);
  });
});

describe('a breach of the protocol', () => {
  it.each<[string, readonly unknown[]]>([
    ['a malformed message', ['{"type":']],
    [
      'progress that does not grow',
      [
        { type: 'progress', percent: 5 },
        { type: 'progress', percent: 5 },
      ],
    ],
    [
      'a second budget',
      [
        { type: 'budget', cpuSeconds: 1 },
        { type: 'budget', cpuSeconds: 1 },
      ],
    ],
    ['a message that is too long', ['x'.repeat(MESSAGE_BYTES + 1)]],
  ])('by %s refuses the file and all later ones, and ends the process', async (_what, lines) => {
    const refusal = outcome();
    send(...lines, done);
    await expect(refusal).rejects.toMatchObject({ code: 'processing_failed' });
    await expect(outcome()).rejects.toMatchObject({ code: 'processing_failed' });
    expect({ breaches, isBreached: messages.isBreached(), destroyed: owner.destroyed }).toEqual({
      breaches: 1,
      isBreached: true,
      destroyed: true,
    });
  });

  it('by a message without a file refuses the next file', async () => {
    send(done);
    await expect.poll(() => messages.isBreached()).toBe(true);
    await expect(outcome()).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

describe('fail', () => {
  it('rejects the pending outcome and all later ones with the first error', async () => {
    const pending = outcome();
    messages.fail(new Error('first'));
    messages.fail(new Error('second'));
    await expect(pending).rejects.toThrow('first');
    await expect(outcome()).rejects.toThrow('first');
  });
});

describe('crash', () => {
  // Promise, Settled where the interface leaves it open: A crash is the fault of the file; a kill by the system is not
  it.each<[number | null, NodeJS.Signals | null]>([
    [null, 'SIGKILL'],
    [137, null],
    [0, null],
    [1, null],
    [128, null],
  ])('returns EngineKilled for exit code %s and signal %s', (code, signal) => {
    expect(crash(code, signal)).toBeInstanceOf(EngineKilled);
  });

  // Promise, Settled where the interface leaves it open: A crash is the fault of the file; a kill by the system is not
  // Promise, Direct endpoints: Timeout after 120 seconds, internal, processing_failed after a crash
  it.each<[number | null, NodeJS.Signals | null]>([
    [null, 'SIGSEGV'],
    [null, 'SIGABRT'],
    [134, null],
    [139, null],
  ])('refuses the file after exit code %s and signal %s', (code, signal) => {
    const error = crash(code, signal);
    expect(error).toBeInstanceOf(MediaError);
    expect(error).toMatchObject({ code: 'processing_failed' });
  });
});
