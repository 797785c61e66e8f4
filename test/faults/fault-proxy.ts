/**
 * A TCP proxy before a server on a unix socket or a port, that fails on command.
 *
 *   passing ──cut──▶ open connections are reset, new ones refused ──mend──▶ passing
 *   passing ──slow──▶ each chunk is delayed ──mend──▶ passing
 *   passing ──drop the reply──▶ the next COMMIT that fits reaches the server, its response nobody ──▶ passing
 */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { makeStatementReader } from '#test/faults/postgres-messages.ts';

export interface FaultProxy {
  readonly port: number;
  /** Sets the server to connect to: a restarted server may have another address. */
  setTarget(target: Target): void;
  cut(): void;
  slow(ms: number): void;
  mend(): void;
  /** Resets what is open now; new connections pass. */
  reset(): void;
  /**
   * Loses the response to the next COMMIT of a transaction that held a statement with that text; resolves once that
   * has happened. Only before PostgreSQL.
   */
  dropCommitReply(withStatement: string): Promise<void>;
  /** Connections that are open. */
  open(): number;
  close(): Promise<void>;
}

type Target = { readonly path: string } | { readonly port: number; readonly host: string };

interface Drop {
  readonly withStatement: string;
  readonly done: () => void;
}

export async function startFaultProxy(first: Target, { isPostgres }: { isPostgres: boolean }): Promise<FaultProxy> {
  let target = first;
  let isCut = false;
  let delayMs = 0;
  let drop: Drop | null = null;
  const pairs = new Set<readonly [Socket, Socket]>();
  const takeDrop = (statements: readonly string[]): Drop | null => {
    const wanted = drop;
    if (wanted === null || !statements.some((text) => text.includes(wanted.withStatement))) return null;
    drop = null;
    return wanted;
  };
  const server = createServer((client) => {
    client.on('error', () => undefined);
    if (isCut) return void client.resetAndDestroy();
    const upstream = 'path' in target ? connect(target.path) : connect(target.port, target.host);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end).setNoDelay(true);
    const reader = makeStatementReader();
    let transaction: string[] = [];
    let dropping: Drop | null = null;
    client.on('data', (chunk: Buffer) => {
      for (const statement of isPostgres ? reader.read(chunk) : []) {
        if (/^begin/i.test(statement)) transaction = [];
        transaction.push(statement);
        if (/^commit/i.test(statement)) dropping = takeDrop(transaction);
        if (!/^begin/i.test(transaction[0] ?? '') || /^(commit|rollback)/i.test(statement)) transaction = [];
      }
      pass(upstream, chunk, delayMs);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (dropping === null) return pass(client, chunk, delayMs);
      dropping.done();
      end();
    });
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const reset = (): void => {
    for (const [client, upstream] of pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
    pairs.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    setTarget: (next) => {
      target = next;
    },
    cut: () => {
      isCut = true;
      reset();
    },
    slow: (ms) => {
      delayMs = ms;
    },
    mend: () => {
      isCut = false;
      delayMs = 0;
      drop = null;
    },
    reset,
    dropCommitReply: (withStatement) =>
      new Promise((done) => {
        drop = { withStatement, done };
      }),
    open: () => pairs.size,
    close: async () => {
      reset();
      await new Promise<void>((closed) => void server.close(() => closed()));
    },
  };
}

function pass(to: Socket, chunk: Buffer, delayMs: number): void {
  if (delayMs === 0) to.write(chunk);
  else setTimeout(() => to.write(chunk), delayMs);
}
