/** What people read who start `hack/demo` elsewhere than on Debian 12 or without root, or stop it while it installs. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const DEMO = fileURLToPath(new URL('demo', import.meta.url));
/** Only root can mount, which shows `hack/demo` another system. */
const canMount = process.getuid?.() === 0;
const CONTAINER =
  'docker build -f worker-image/Dockerfile -t mediajobs-worker . && docker build -f api/Dockerfile -t mediajobs-service . && docker build -f api/embedded/Dockerfile -t mediajobs . && docker run --name mediajobs -p 8443:8443 -v mediajobs:/data mediajobs\n';
const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-setup-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function demo(command: string[], env: NodeJS.ProcessEnv = process.env): object {
  const [program = '', ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, [...args, DEMO], { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

/** Starts it with `other` in place of the file or folder `mounted`, and without sudo. */
function demoWith(other: string, mounted: string, prefix = ''): object {
  const withoutSudo = 'if sudo=$(command -v sudo); then mount --bind /dev/null "$sudo"; fi';
  const script = `mount --bind "$1" "$2" && shift 2 && ${withoutSudo} && exec ${prefix} "$@"`;
  return demo(['unshare', '--mount', 'sh', '-c', script, 'sh', other, mounted]);
}

function refusal(reason: string): object {
  const sentence = `this needs Debian 12 with root or sudo, but ${reason}; use the container, which is built from this folder:`;
  return { status: 1, stdout: CONTAINER, stderr: `setup: ${sentence}\n` };
}

describe('hack/demo', () => {
  it
    .runIf(canMount)
    .each(['Fedora Linux 43 (Workstation Edition)', 'Ubuntu 24.04.3 LTS', 'Debian GNU/Linux 13 (trixie)'])(
    'prints the command for the container on %s',
    (name) => {
      const release = path.join(folder, 'os-release');
      writeFileSync(release, `NAME=x\nPRETTY_NAME="${name}"\nVERSION_ID=1\n`);
      expect(demoWith(release, '/etc/os-release')).toEqual(refusal(`this is ${name}`));
    },
  );

  it('prints the command for the container on macOS', () => {
    const uname = path.join(folder, 'uname');
    writeFileSync(uname, '#!/bin/sh\necho Darwin\n');
    chmodSync(uname, 0o755);
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    expect(demo(['bash'], env)).toEqual(refusal('this is macOS'));
  });

  it.runIf(canMount)('prints the command for the container to a user without rights when packages are missing', () => {
    const database = path.join(folder, 'dpkg');
    mkdirSync(database, { recursive: true });
    writeFileSync(path.join(database, 'status'), '');
    const asNobody = 'env PATH=/usr/bin:/bin setpriv --reuid 65534 --regid 65534 --clear-groups';
    chmodSync(folder, 0o755);
    expect(demoWith(database, '/var/lib/dpkg', asNobody)).toEqual(refusal('root and sudo are missing'));
  });

  describe('while it installs', () => {
    const checkout = path.join(folder, 'checkout');
    const ROOT = path.dirname(path.dirname(DEMO));

    /** Starts it in a fresh checkout, and returns it with what it has written once `text` is there. */
    async function install(text: string): Promise<{ running: ChildProcess; written: () => string }> {
      for (const file of ['hack', 'package.json', 'package-lock.json'])
        cpSync(path.join(ROOT, file), path.join(checkout, file), { recursive: true });
      const running = spawn(path.join(checkout, 'hack/demo'), { stdio: ['ignore', 'ignore', 'pipe'] });
      let stderr = '';
      for await (const part of running.stderr.iterator({ destroyOnReturn: false })) {
        stderr += String(part);
        if (stderr.includes(text)) break;
      }
      running.stderr.on('data', (part) => (stderr += String(part)));
      return { running, written: () => stderr };
    }

    /** Returns the processes that work in the checkout. */
    function processesThere(): string[] {
      return readdirSync('/proc').filter((name) => {
        try {
          return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).startsWith(checkout);
        } catch {
          return false;
        }
      });
    }

    it.each(['SIGHUP', 'SIGINT', 'SIGTERM'] as const)(
      '%s ends it and the installation, which says so',
      async (signal) => {
        const { running, written } = await install('npm packages');
        expect(processesThere()).not.toEqual([]);
        running.kill(signal);
        expect(await once(running, 'close')).toEqual([130, null]);
        expect(written()).toMatch(/\nsetup: stopped\. What is installed so far is kept; start again to continue\.\n$/);
        await expect.poll(processesThere, { timeout: 20_000 }).toEqual([]);
      },
    );

    it('SIGTERM ends one that waits for another', async () => {
      const first = await install('npm packages');
      const second = await install('waits for it');
      second.running.kill('SIGTERM');
      expect(await once(second.running, 'close')).toEqual([130, null]);
      first.running.kill('SIGTERM');
      await once(first.running, 'close');
      await expect.poll(processesThere, { timeout: 20_000 }).toEqual([]);
    });
  });
});
