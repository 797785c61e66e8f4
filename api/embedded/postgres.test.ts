import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startPostgres, type Server } from '#api/embedded/postgres.ts';
import { makeDatabase } from '#api/store/database.ts';
import { makeLog } from '#crds/process/log.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-postgres-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** As below a home folder that only its owner may enter. */
const dataFolder = mkdtempSync(path.join(folder, 'data-'));
chmodSync(folder, 0o700);

const start = (): Promise<Server> => startPostgres({ dataFolder, durable: true, onLine: () => undefined });

async function query(server: Server, text: string): Promise<unknown[]> {
  const database = makeDatabase({ url: server.url, log: makeLog('test', 'silent'), maxConnections: 1 });
  try {
    return (await database.query(text)).rows;
  } finally {
    await database.close();
  }
}

describe('startPostgres', () => {
  it('starts in a folder whose parents other users may not enter, and finds its data again', async () => {
    const first = await start();
    await query(first, 'create table kept as select 1 as value');
    await first.stop();
    const second = await start();
    expect(await query(second, 'select value from kept')).toEqual([{ value: 1 }]);
    await second.stop();
  });

  it('starts again after the server was killed, with all committed data', async () => {
    const first = await start();
    await query(first, 'create table committed as select 2 as value');
    process.kill(first.pid, 'SIGKILL');
    expect(await first.ended).toBe('signal SIGKILL');
    const second = await start();
    expect(await query(second, 'select value from committed')).toEqual([{ value: 2 }]);
    await second.stop();
  });

  it('starts while a shell is in the folder of its data, and leaves it alone', async () => {
    await (await start()).stop();
    const shell = spawn('sleep', ['60'], { cwd: path.join(dataFolder, 'postgres') });
    const server = await start();
    await server.stop();
    expect(shell.exitCode ?? shell.signalCode).toBeNull();
    shell.kill();
  });

  it('names the version that made the data when that is not installed', async () => {
    await (await start()).stop();
    const file = path.join(dataFolder, 'postgres', 'PG_VERSION');
    const version = readFileSync(file);
    writeFileSync(file, '14\n');
    await expect(start()).rejects.toThrow("install Debian's package postgresql-14");
    writeFileSync(file, version);
  });

  it('starts despite the pid file of a server whose process id belongs to another process now', async () => {
    await (await start()).stop();
    writeFileSync(path.join(dataFolder, 'postgres', 'postmaster.pid'), `${process.ppid}\n/nowhere\n`);
    const server = await start();
    expect(await query(server, 'select 3 as value')).toEqual([{ value: 3 }]);
    await server.stop();
  });
});
