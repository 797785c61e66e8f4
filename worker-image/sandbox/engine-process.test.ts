import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeLog } from '#crds/process/log.ts';
import { noisyPng, writeEngineInput } from '#test/support/engine-inputs.ts';
import { EngineProcess } from '#worker-image/sandbox/engine-process.ts';
import { NO_ISOLATION, type Isolation } from '#worker-image/tools/isolation.ts';

let image: Buffer;
let directory: string;

beforeAll(async () => {
  image = await noisyPng();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'engine-process-'));
});
afterEach(() => rm(directory, { recursive: true, maxRetries: 5 }));

function start(isolation: Isolation = NO_ISOLATION): EngineProcess {
  return new EngineProcess({ log: makeLog('test', 'silent') }, { directory, isolation });
}

describe('EngineProcess', () => {
  it('processes several files, counts them and reports its memory', async () => {
    const engine = start();
    for (const files of [1, 2]) {
      const { result } = await engine.process(await writeEngineInput(directory, image));
      expect(result).toMatchObject({ kind: 'image', input_format: 'png' });
      expect(engine.files()).toBe(files);
    }
    expect(engine.rssBytes()).toBeGreaterThan(10_000_000);
    expect(engine.end()).toBeNull();
    expect({ left: engine.mustBeReplaced(), breached: engine.isBreached() }).toEqual({ left: false, breached: false });
    await engine.kill();
  });

  it('returns why it has ended, and refuses further files', async () => {
    const engine = start();
    await engine.kill();
    expect(engine.end()).toMatchObject({ name: 'EngineKilled' });
    await expect(engine.process(await writeEngineInput(directory, image))).rejects.toThrow();
  });

  it('is breached when its program writes no messages of the protocol', async () => {
    const engine = start({ ...NO_ISOLATION, child: () => ['sh', '-c', 'echo words >&3; exec sleep 60'] });
    await engine.ended;
    expect(engine.isBreached()).toBe(true);
  });

  it('is breached when its program closes the channel but does not end', async () => {
    const engine = start({ ...NO_ISOLATION, child: () => ['sh', '-c', 'exec 3>&- sleep 60'] });
    await engine.ended;
    expect(engine.isBreached()).toBe(true);
  });
});
