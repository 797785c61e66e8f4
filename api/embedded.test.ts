import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openDataFolder } from '#api/embedded/data-folder.ts';

const SCRIPT = fileURLToPath(new URL('embedded.ts', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-embedded-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the service until it exits by itself and returns its exit code and standard error. */
async function start(
  args: readonly string[],
  settings: Record<string, string> = {},
): Promise<{ code: number | null; stderr: string }> {
  const env = { PATH: process.env['PATH'], ...settings };
  const child = spawn(process.execPath, [SCRIPT, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code: code as number | null, stderr };
}

const data = (name: string): string => path.join(folder, name);

describe('a failed start', () => {
  it('lists every setting that is wrong', async () => {
    const settings = { MEDIAJOBS_HTPS_PORT: '1', MEDIAJOBS_LOG_LEVEL: 'loud', MEDIAJOBS_PRIVATE_TARGETS: '10.0.0.0' };
    const { code, stderr } = await start(['--data', data('settings')], settings);
    expect(code).toBe(1);
    for (const name of Object.keys(settings)) expect(stderr).toContain(`  - ${name}: `);
  });

  it.each([
    ['no folder', [], '--data DIR is required'],
    ['an unknown argument', ['--data', data('a'), '--prot', '1'], "Unknown option '--prot'"],
    ['a port that is none', ['--data', data('b'), '--port', '99999'], '--port 99999 is not a port'],
    ['a path with a file in it', ['--data', '/etc/passwd/data'], 'a part of its path is a file'],
  ])('reports %s in one sentence', async (_, args, sentence) => {
    const { code, stderr } = await start(args);
    expect(code).toBe(1);
    expect(stderr).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses a data folder that another service uses', async () => {
    await openDataFolder({ report: () => undefined }, data('locked'));
    const { code, stderr } = await start(['--data', data('locked'), '--port', '0']);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `mediajobs: Another mediajobs service runs on the data folder ${data('locked')}: stop that one, or choose another folder with --data.\n`,
    );
  });

  it('refuses a port that another program listens on', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await start(['--data', data('port'), '--port', String(port)]);
    server.close();
    expect(code).toBe(1);
    expect(stderr).toBe(
      `mediajobs: Port ${port} on 127.0.0.1 cannot be used: another program listens there. Choose another port.\n`,
    );
  });

  it('never replaces secrets that it cannot read', async () => {
    const secrets = path.join(folder, 'damaged', 'secrets.json');
    mkdirSync(path.dirname(secrets));
    writeFileSync(secrets, '{}', { mode: 0o600 });
    const { code, stderr } = await start(['--data', data('damaged'), '--port', '0']);
    expect(code).toBe(1);
    expect(stderr).toContain('put the file back from a backup');
    expect(readFileSync(secrets, 'utf8')).toBe('{}');
  });
});
