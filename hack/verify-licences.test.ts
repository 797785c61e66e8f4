/** The licence gate as builds of images run it, on the Debian packages in a folder. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReviewedLicences } from './licences/check-licences.ts';

const REVIEWED = 'hack/licences/reviewed.json';
const reviewed = JSON.parse(readFileSync(REVIEWED, 'utf8')) as ReviewedLicences;
const debian = Object.entries(reviewed).flatMap(([key, licences]) =>
  key.startsWith('debian ') ? [[key.slice('debian '.length), licences] as const] : [],
);
const folders: string[] = [];
let root = '';

afterAll(() => folders.forEach((one) => rmSync(one, { recursive: true })));

/** Adds a package to the image: its entry in dpkg's list and its copyright file. */
function install(name: string, licences: readonly string[]): void {
  const folder = path.join(root, 'usr/share/doc', name);
  mkdirSync(folder, { recursive: true });
  const paragraphs = licences.map((licence) => `Files: *\nLicense: ${licence}\n`);
  const format = 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n';
  writeFileSync(path.join(folder, 'copyright'), [format, ...paragraphs].join('\n'));
  writeFileSync(path.join(root, 'var/lib/dpkg/status'), `Package: ${name}\nStatus: install ok installed\n\n`, {
    flag: 'a',
  });
}

/** Returns how the gate ends for the image. */
function gate(...options: string[]) {
  const args = ['hack/verify-licences.ts', '--image', root, ...options];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, stderr };
}

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'mediajobs-licences-'));
  folders.push(root);
  mkdirSync(path.join(root, 'var/lib/dpkg'), { recursive: true });
  for (const [name, licences] of debian.slice(0, 60)) install(name, licences);
});

describe('hack/verify-licences.ts --image', () => {
  it('accepts an image of reviewed packages', () => {
    expect(gate()).toEqual({ status: 0, stderr: '' });
  });

  it('fails when somebody adds a package under the AGPL', () => {
    install('mupdf-tools', ['AGPL-3+', 'ISC']);
    const { status, stderr } = gate();
    expect(status).toBe(1);
    expect(stderr).toContain('debian mupdf-tools: AGPL-3+ is not allowed in an image\n');
  });

  it('does not record a package under the AGPL as reviewed', () => {
    install('mupdf-tools', ['AGPL-3+']);
    const { status, stderr } = gate('--record');
    expect(status).toBe(1);
    expect(stderr).toContain('debian mupdf-tools: AGPL-3+ is not allowed in an image');
    expect(JSON.parse(readFileSync(REVIEWED, 'utf8'))).toEqual(reviewed);
  });

  it('fails when a package that nobody has reviewed came with another one', () => {
    install('surprise', ['MIT']);
    const { status, stderr } = gate();
    expect(status).toBe(1);
    expect(stderr).toContain('debian surprise (MIT) is not reviewed\n');
  });
});
