import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { Watchers } from '#crds/process/watchers.ts';
import { readJsonLines, writeJsonLine } from '#crds/process/message-lines.ts';
import { completeRequest } from '#controller/local-runs.ts';
import { runName, type Run, type RunOwner, type Runs } from '#controller/runs.ts';
import { REPLY_BYTES, replySchema, resultSchemas, type RunsRequest } from '#controller/runs-messages.ts';

export interface ConnectedRuns extends Runs {
  /** Stops every run and refuses further starts. */
  close(): Promise<void>;
  /** Resolves when the connection has ended, which also ends every run. */
  readonly ended: Promise<void>;
}

/** Request without its id. */
type RequestWithoutId = RunsRequest extends infer One ? (One extends { id: number } ? Omit<One, 'id'> : never) : never;

interface PendingReply {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const CONNECT_MS = 30_000;
const RETRY_MS = 50;

/**
 * Connects to the process of `serveLocalRuns`, which may still be starting. Messages about attempts that were not
 * started through this connection are ignored.
 * @throws Error when no connection is established within 30 seconds.
 */
export async function connectRuns(socketPath: string): Promise<ConnectedRuns> {
  const socket = await connect(socketPath);
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const pending = new Map<number, PendingReply>();
  const watchers = new Watchers<string>();
  const started = new Map<string, { readonly owner: RunOwner; readonly attempt: number }>();
  let lastId = 0;

  socket.on('error', () => undefined);
  socket.once('close', () => {
    for (const { reject } of pending.values()) reject(new Error('The process that runs attempts has ended.'));
    pending.clear();
  });
  readJsonLines(socket, {
    maxBytes: REPLY_BYTES,
    onMessage: (message) => {
      const reply = replySchema.parse(message);
      if ('changed' in reply) return watchers.notify(reply.changed);
      const found = pending.get(reply.id);
      pending.delete(reply.id);
      if ('error' in reply) found?.reject(new Error(reply.error));
      else found?.resolve(reply.result);
    },
  });

  const send = async <T>(request: RequestWithoutId, schema: z.ZodType<T>): Promise<T> => {
    if (socket.destroyed) throw new Error('The process that runs attempts has ended.');
    const id = (lastId += 1);
    const reply = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject }));
    writeJsonLine(socket, { id, ...request });
    return schema.parse(await reply);
  };
  const ownRuns = (runs: readonly Run[]): Run[] =>
    runs.flatMap((run) => {
      const identity = started.get(run.name);
      return identity === undefined ? [] : [{ ...run, ...identity }];
    });

  return {
    ended,
    reserve: (name, account) => send({ method: 'reserve', name, account }, resultSchemas.reserve),
    async start(request) {
      const complete = await completeRequest(request);
      const { owner, attempt } = complete;
      started.set(runName(owner.name, attempt), { owner, attempt });
      return send({ method: 'start', ...complete }, resultSchemas.start);
    },
    observe: async (name) =>
      ownRuns(await send({ method: 'observe', name }, resultSchemas.runs)).filter(({ owner }) => owner.name === name),
    list: async () => ownRuns(await send({ method: 'list' }, resultSchemas.runs)),
    stop: async (name) => void (await send({ method: 'stop', name }, resultSchemas.nothing)),
    async release(mediaJobName) {
      await send({ method: 'release', name: mediaJobName }, resultSchemas.nothing);
      for (const [name, { owner }] of started) if (owner.name === mediaJobName) started.delete(name);
    },
    watch: (onChange, signal) => watchers.add(onChange, signal),
    async close() {
      await send({ method: 'close' }, resultSchemas.nothing);
      socket.end();
      await ended;
    },
  };
}

async function connect(socketPath: string): Promise<Socket> {
  const since = performance.now();
  for (;;) {
    const socket = createConnection(socketPath);
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      if (performance.now() - since > CONNECT_MS)
        throw new Error(`The process that runs attempts does not answer at ${socketPath}.`, { cause: error });
      await delay(RETRY_MS);
    }
  }
}
