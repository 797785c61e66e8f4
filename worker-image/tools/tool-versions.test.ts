import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toolVersions } from '#worker-image/tools/tool-versions.ts';

const INSTALLED = 'install ok installed';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dpkg-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Returns the versions on a machine with the packages: name, version and status. */
async function versionsFor(packages: readonly (readonly [string, string, string])[]): Promise<Record<string, string>> {
  const entries = packages.map(
    ([name, version, status]) =>
      `Package: ${name}\nStatus: ${status}\nArchitecture: amd64\nVersion: ${version}\nDescription: one\n Version: 0\n`,
  );
  const list = join(folder, 'status');
  await writeFile(list, entries.join('\n'));
  return toolVersions(list);
}

describe('toolVersions', () => {
  it('returns the version of a package for each of its tools', async () => {
    const versions = await versionsFor([
      ['adduser', '3.134', INSTALLED],
      ['ffmpeg', '7:5.1.8-0+deb12u1', INSTALLED],
      ['util-linux', '2.38.1-5+deb12u3', 'hold ok installed'],
    ]);
    const { ffmpeg, ffprobe, setpriv, prlimit } = versions;
    expect({ ffmpeg, ffprobe, setpriv, prlimit }).toEqual({
      ffmpeg: '7:5.1.8-0+deb12u1',
      ffprobe: '7:5.1.8-0+deb12u1',
      setpriv: '2.38.1-5+deb12u3',
      prlimit: '2.38.1-5+deb12u3',
    });
  });

  it('omits packages that are not installed', async () => {
    const versions = await versionsFor([
      ['ffmpeg', '7:5.1.8-0+deb12u1', 'deinstall ok config-files'],
      ['qpdf', '11.3.0-1', INSTALLED],
    ]);
    expect(versions).not.toHaveProperty('ffmpeg');
    expect(versions).toHaveProperty('qpdf', '11.3.0-1');
  });

  it('returns the versions of Node.js and of the libraries where Debian has no list', async () => {
    const versions = await toolVersions(join(folder, 'missing'));
    expect(versions).toMatchObject({ node: process.versions.node, sharp: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(versions).not.toHaveProperty('ffmpeg');
  });

  it('returns the versions of this machine', async () => {
    expect(await toolVersions()).toHaveProperty('python3', expect.stringMatching(/^3\.\d+\./));
  });
});
