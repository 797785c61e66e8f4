import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('systemd-unit', import.meta.url));
const VERIFIER = '/usr/bin/systemd-analyze';
const folder = mkdtempSync(path.join(tmpdir(), 'unit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the complaints of systemd about a unit. */
async function complaintsAbout(unit: string): Promise<string> {
  const file = path.join(folder, 'mediajobs.service');
  writeFileSync(file, unit);
  const { stderr } = await run(VERIFIER, ['verify', '--man=no', file]).catch((error: { stderr: string }) => error);
  return stderr;
}

describe('hack/systemd-unit', () => {
  it('prints a unit that starts the service of the checkout with its data folder and port', async () => {
    const { stdout } = await run(SCRIPT, ['--data', '/srv/media jobs/100%', '--port', '443']);
    expect(stdout).toMatch(
      /^ExecStart="\/.*\/node_modules\/\.bin\/node" "\/.*\/api\/embedded\.ts" --data "\/srv\/media jobs\/100%%" --port 443$/m,
    );
  });

  it.runIf(existsSync(VERIFIER))('prints a unit without faults, by the judgement of systemd', async () => {
    const { stdout } = await run(SCRIPT, ['--data', '/srv/media jobs/100%']);
    expect(await complaintsAbout(stdout)).toBe('');
    expect(await complaintsAbout(stdout.replace('Restart=on-failure', 'Restart=sometimes'))).toContain('sometimes');
  });

  it.each([['--data', 'folder'], ['--data'], ['--port', '12ab'], ['start']])('refuses %s %s', async (...words) => {
    await expect(run(SCRIPT, words)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--data DIR with a full path'),
    });
  });
});
