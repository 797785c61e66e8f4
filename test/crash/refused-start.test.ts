import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../api/embedded.ts', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-refused-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NAMESPACE = process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount'];

/** Starts the service after a shell command in a private mount namespace. Returns its output after its end. */
async function startWhere(change: string): Promise<{ code: number | null; said: string }> {
  const command = `set -e; ${change}; exec "$1" "$2" --data "$3" --port 0`;
  const args = [...NAMESPACE, '--', 'sh', '-c', command, 'sh', process.execPath, SCRIPT, folder];
  const child = spawn('unshare', args, { env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'ignore', 'pipe'] });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code: code as number | null, said };
}

describe('a start on a machine that cannot serve', () => {
  it('reports that the data folder is on a read-only file system', async () => {
    const { code, said } = await startWhere('mount -t tmpfs -o ro none "$3"');
    expect(said).toBe(
      `mediajobs: The data folder ${folder} cannot be used: it is on a read-only file system. Choose another one with --data.\n`,
    );
    expect(code).toBe(1);
  });

  it('reports that the disk is full', async () => {
    const { code, said } = await startWhere('mount -t tmpfs -o mode=700,size=8k,nr_inodes=2 none "$3"');
    expect(said).toBe(
      `mediajobs: The data folder ${folder} cannot be used: the disk is full. Choose another one with --data.\n`,
    );
    expect(code).toBe(1);
  });

  it('reports every missing tool with its package', async () => {
    const { code, said } = await startWhere(
      'mount --bind /dev/null /usr/bin/ffmpeg; mount --bind /dev/null /usr/bin/qpdf',
    );
    expect(said.trim().split('\n')).toHaveLength(2);
    for (const tool of ['ffmpeg', 'qpdf']) {
      expect(said).toContain(
        `The tool ${tool} is not installed on this machine. Install it with: apt-get install ${tool}.`,
      );
    }
    expect(code).toBe(1);
  });
});
