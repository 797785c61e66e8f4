import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import { Watchers } from '#crds/process/watchers.ts';
import { readJsonLines, writeJsonLine } from '#crds/process/message-lines.ts';
import { completeRequest } from '#controller/local-runs.ts';
import type { PermitOwner } from '#controller/kind-permits.ts';
import { runName, type Run, type RunOwner, type RunRequest, type Runs } from '#controller/runs.ts';
import { REPLY_BYTES, replySchema, resultSchemas, type RunsRequest } from '#controller/runs-messages.ts';

type RequestWithoutId = RunsRequest extends infer One ? (One extends { id: number } ? Omit<One, 'id'> : never) : never;

interface PendingReply {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const CONNECT_MS = 30_000;
const RETRY_MS = 50;
const ENDED = 'The process that runs attempts has ended.';

/**
 * Connects to the process of `serveLocalRuns`, which may still be starting.
 * @throws Error when no connection is established within 30 seconds.
 */
export async function connectRuns(socketPath: string): Promise<ConnectedRuns> {
  return new ConnectedRuns(await connect(socketPath));
}

/** Runs of another process. Messages about attempts that were not started through this connection are ignored. */
export class ConnectedRuns implements Runs {
  /** Resolves when the connection has ended, which also ends every run. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #pending = new Map<number, PendingReply>();
  readonly #watchers = new Watchers<string>();
  readonly #started = new Map<string, { readonly owner: RunOwner; readonly attempt: number }>();
  #lastId = 0;
  /** Error that ended the connection. */
  #cause: Error | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', (error) => {
      this.#cause ??= error;
    });
    socket.once('close', () => {
      for (const { reject } of this.#pending.values()) reject(this.#endedError());
      this.#pending.clear();
    });
    readJsonLines(socket, { maxBytes: REPLY_BYTES, onMessage: (message) => this.#receive(message) });
  }

  reserve(name: string, { account }: PermitOwner): Promise<boolean> {
    return this.#send({ method: 'reserve', name, account }, resultSchemas.reserve);
  }

  async start(request: RunRequest): ReturnType<Runs['start']> {
    const complete = await completeRequest(request);
    const { owner, attempt } = complete;
    this.#started.set(runName(owner.name, attempt), { owner, attempt });
    return this.#send({ method: 'start', ...complete }, resultSchemas.start);
  }

  async observe(name: string): Promise<readonly Run[]> {
    const runs = this.#ownRuns(await this.#send({ method: 'observe', name }, resultSchemas.runs));
    return runs.filter(({ owner }) => owner.name === name);
  }

  async list(): Promise<readonly Run[]> {
    return this.#ownRuns(await this.#send({ method: 'list' }, resultSchemas.runs));
  }

  async stop(name: string): Promise<void> {
    await this.#send({ method: 'stop', name }, resultSchemas.nothing);
  }

  async release(mediaJobName: string): Promise<void> {
    await this.#send({ method: 'release', name: mediaJobName }, resultSchemas.nothing);
    for (const [name, { owner }] of this.#started) if (owner.name === mediaJobName) this.#started.delete(name);
  }

  watch(onChange: (mediaJobName: string) => void, signal: AbortSignal): void {
    this.#watchers.add(onChange, signal);
  }

  /** Stops every run and refuses further starts. */
  async close(): Promise<void> {
    await this.#send({ method: 'close' }, resultSchemas.nothing);
    this.#socket.end();
    await this.ended;
  }

  #receive(message: unknown): void {
    const reply = replySchema.parse(message);
    if ('changed' in reply) return this.#watchers.notify(reply.changed);
    const found = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ('error' in reply) found?.reject(new Error(reply.error));
    else found?.resolve(reply.result);
  }

  async #send<T>(request: RequestWithoutId, schema: z.ZodType<T>): Promise<T> {
    if (this.#socket.destroyed) throw this.#endedError();
    const id = (this.#lastId += 1);
    const reply = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    writeJsonLine(this.#socket, { id, ...request });
    return schema.parse(await reply);
  }

  #endedError(): Error {
    return new Error(ENDED, this.#cause === undefined ? {} : { cause: this.#cause });
  }

  #ownRuns(runs: readonly Run[]): Run[] {
    return runs.flatMap((run) => {
      const identity = this.#started.get(run.name);
      return identity === undefined ? [] : [{ ...run, ...identity }];
    });
  }
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
