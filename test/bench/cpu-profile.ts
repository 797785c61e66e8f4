/** Takes the CPU profile of a Node process that is already running, through its inspector. */
import { setTimeout as delay } from 'node:timers/promises';

export interface ProfiledCode {
  /** A folder or file of ours, a package, a module of Node, or what the engine itself did. */
  readonly module: string;
  readonly functionName: string;
  /** Part of the samples in which the process was not idle. */
  readonly share: number;
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { functionName: string; url: string } }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Node opens every inspector on this port, so processes are profiled one after the other. */
const INSPECTOR = 'http://127.0.0.1:9229/json';
const TRIES = 50;

/** Returns where the process spent its time while the work ran, the most first, and its share of busy time. */
export async function profile(
  pid: number,
  work: () => Promise<unknown>,
): Promise<{ busy: number; code: ProfiledCode[] }> {
  process.kill(pid, 'SIGUSR1');
  const session = await connect();
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: 500 });
  await session.send('Profiler.start');
  await work();
  const { profile: found } = (await session.send('Profiler.stop')) as { profile: Profile };
  // Frees the port for the next process; the response may get lost with it.
  const close = "setTimeout(() => process.getBuiltinModule('node:inspector').close(), 50)";
  await session.send('Runtime.evaluate', { expression: close });
  session.close();
  await delay(500);
  return summary(found);
}

interface Session {
  readonly send: (method: string, params?: object) => Promise<unknown>;
  readonly close: () => void;
}

async function connect(): Promise<Session> {
  const socket = new WebSocket(await socketUrl());
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error('the inspector refuses')), { once: true });
  });
  let id = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const said = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (said.id !== undefined) waiting.get(said.id)?.(said.result);
  });
  return {
    send: (method, params = {}) => {
      id += 1;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    close: () => socket.close(),
  };
}

async function socketUrl(): Promise<string> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const response = await fetch(INSPECTOR).catch(() => null);
    if (response !== null) {
      const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
      if (target !== undefined) return target.webSocketDebuggerUrl;
    }
    await delay(100);
  }
  throw new Error('the process opened no inspector');
}

function summary({ nodes, samples, timeDeltas }: Profile): { busy: number; code: ProfiledCode[] } {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, { module: string; functionName: string; time: number }>();
  let [all, working] = [0, 0];
  for (const [at, id] of samples.entries()) {
    const { functionName = '', url = '' } = frames.get(id) ?? {};
    const time = timeDeltas[at] ?? 0;
    all += time;
    if (functionName === '(idle)') continue;
    working += time;
    const one = {
      module: moduleOf(functionName, url),
      functionName: functionName === '' ? '(anonymous)' : functionName,
    };
    const key = `${one.module} ${one.functionName}`;
    times.set(key, { ...one, time: (times.get(key)?.time ?? 0) + time });
  }
  const code = [...times.values()].map(({ time, ...one }) => ({ ...one, share: time / working }));
  return { busy: working / all, code: code.toSorted((one, other) => other.share - one.share) };
}

function moduleOf(functionName: string, url: string): string {
  const pack = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (pack !== undefined) return pack;
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const own = /\/((?:api|controller|crds|worker-image)\/.*)/.exec(url)?.[1];
  return own ?? (functionName.startsWith('(') ? functionName : 'native');
}
