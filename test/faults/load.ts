/** Twice as many direct requests as the engine admits, and connections that are slow on purpose. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import sharp from 'sharp';
import type { Reply, FaultAccount } from '#test/faults/account.ts';
import { CSV, direct } from '#test/faults/account.ts';
import { sendHalf } from '#test/faults/half-sent.ts';
import { must, mustEqual, type Scenario, type Stage } from '#test/faults/scenario.ts';
import { ENGINE_CAPACITY, type World } from '#test/faults/world.ts';

export const LOAD: readonly Scenario[] = [
  {
    name: 'direct-overload',
    breaks: 'twice as many callers as the direct lane has slots, for half a minute',
    holds:
      'each is done or refused as engine_busy; 16 callers are all accepted; memory does not grow (its times are printed; meant: a refusal in 50 ms, an accepted one in 1.5 times as long as alone)',
    seeds: 1,
    slow: true,
    run: async (stage) => {
      const photo = await noisyPhoto();
      const { children, queue } = ENGINE_CAPACITY;
      mustEqual((await compress(stage.account, photo)).status, 200, 'a first request');
      const alone = await callers(stage, { atOnce: children, seconds: 10, photo });
      const few = await callers(stage, { atOnce: 16, seconds: 10, photo });
      const overload = { atOnce: 2 * (children + queue), photo };
      // As many connections take memory of their own; what matters is that it stays at that.
      const first = await callers(stage, { ...overload, seconds: 10 });
      const before = memoryOf(stage.world);
      const overloaded = await callers(stage, { ...overload, seconds: 30 });
      const after = memoryOf(stage.world);
      const unexpected = [
        ...[...alone, ...few].filter(({ status }) => status !== 200),
        ...[...first, ...overloaded].filter(({ status }) => status !== 200 && status !== 503),
      ];
      mustEqual(
        unexpected.map(({ status, failure }) => `${status} ${failure ?? ''}`),
        [],
        'unexpected responses',
      );
      const [unloaded, accepted, refused] = [timesOf(alone, 200), timesOf(overloaded, 200), timesOf(overloaded, 503)];
      stage.note(`${children} callers, as many as are worked on: ${unloaded.length / 10} a second, ${shown(unloaded)}`);
      stage.note(`16 callers: ${few.length / 10} a second, ${shown(timesOf(few, 200))}`);
      stage.note(
        `twice the ${children + queue} admitted: ${(accepted.length / 30).toFixed(1)} a second, ${shown(accepted)}; ${refused.length} refused, ${shown(refused)}`,
      );
      stage.note(`memory of the API and the engine: ${before.toFixed(0)} → ${after.toFixed(0)} MiB`);
      must(accepted.length > 0 && refused.length > 0, `${accepted.length} were accepted and ${refused.length} refused`);
      stage.note(`an accepted one takes ${(at(accepted, 0.5) / at(unloaded, 0.5)).toFixed(2)} times as long as alone`);
      must(after < 1.5 * before, `memory grew from ${before.toFixed(0)} to ${after.toFixed(0)} MiB`);
    },
  },
  {
    name: 'slow-connections',
    breaks: '200 connections that send a header byte from time to time, and bodies that stop in the middle',
    holds: 'a valid request is answered as without them',
    seeds: 3,
    run: async ({ world, account, note }) => {
      const slow = await Promise.all(Array.from({ length: 200 }, () => slowHeaders(world)));
      const halves = await Promise.all(
        Array.from({ length: 20 }, () =>
          sendHalf(world, account, {
            method: 'POST',
            path: '/v1/convert?to=json&filename=a.csv',
            body: Buffer.alloc(40_000, 'a,b\n'),
          }),
        ),
      );
      const times: number[] = [];
      for (let count = 0; count < 5; count += 1) {
        const { status, ms } = await timed(() => direct(account, CSV));
        mustEqual(status, 200, 'a good request');
        times.push(ms);
      }
      note(`a good request among 200 slow headers and 20 slow bodies: ${shown(times.toSorted((a, b) => a - b))}`);
      for (const half of halves) half.cut();
      for (const end of slow) end();
      await Promise.all(halves.map(({ status }) => status));
    },
  },
];

interface Timed {
  readonly status: number;
  readonly ms: number;
  readonly failure: string | undefined;
}

async function timed(call: () => Promise<Reply>): Promise<Timed> {
  const startedAt = performance.now();
  const { status, failure } = await call();
  return { status, ms: performance.now() - startedAt, failure };
}

async function noisyPhoto(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  return sharp({ create: { width: 1200, height: 800, channels: 3, background: '#28c', noise } })
    .jpeg({ quality: 92 })
    .toBuffer();
}

function compress(account: FaultAccount, photo: Buffer): Promise<Reply> {
  return account.call('POST', '/v1/compress?filename=a.jpg', { body: photo });
}

/** Runs concurrent callers, each of which sends its next request at once. A refused one waits for its `Retry-After`. */
async function callers(
  { account }: Stage,
  { atOnce, seconds, photo }: { atOnce: number; seconds: number; photo: Buffer },
): Promise<Timed[]> {
  const all: Timed[] = [];
  const endsAt = performance.now() + seconds * 1000;
  const caller = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const one = await timed(() => compress(account, photo));
      all.push(one);
      if (one.status === 503) await new Promise((done) => setTimeout(done, 1000));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return all;
}

/** Proportional set size, MiB. */
function memoryOf(world: World): number {
  return world
    .processes()
    .filter(({ role }) => role === 'api' || role === 'engine')
    .map(({ pid }) => Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024)
    .reduce((sum, one) => sum + one, 0);
}

/** Milliseconds, the shortest first. */
function timesOf(all: readonly Timed[], status: number): number[] {
  return all
    .filter((one) => one.status === status)
    .map(({ ms }) => ms)
    .toSorted((a, b) => a - b);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function shown(sorted: readonly number[]): string {
  return `median ${at(sorted, 0.5).toFixed(0)} ms, p95 ${at(sorted, 0.95).toFixed(0)} ms`;
}

/** Returns a function that ends it. */
function slowHeaders(world: World): Promise<() => void> {
  const { hostname, port } = new URL(world.service().baseUrl);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), ca: world.service().ca }, () => {
      socket.write('POST /v1/compress HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
      const timer = setInterval(() => socket.write('a'), 1000);
      socket.once('close', () => clearInterval(timer));
      resolve(() => void socket.destroy());
    });
    socket.on('error', () => undefined);
  });
}
