/** Runs the shell examples of README and documentation as a reader pastes them, in order, in fresh folders. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { writeClientEnvironment } from '#api/embedded/client-environment.ts';
import { freePorts } from '#api/embedded/free-ports.ts';
import { useService } from '#test/support/use-service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { service, live } = await useService('growth');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'examples-'));
  folders.push(folder);
  return folder;
}

/** Returns the blocks of a document in the language `sh`. */
function examplesOf(file: string): string[] {
  return [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
    ([, text = '']) => text,
  );
}

/** Runs the blocks in one shell, as after one another in a terminal; the first failure ends it. */
async function paste(
  folder: string,
  blocks: readonly string[],
  given: Readonly<Record<string, string>> = {},
): Promise<void> {
  const script = path.join(folder, '.pasted');
  writeFileSync(script, `set -euo pipefail\n${blocks.join('\n')}`);
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...given };
  const failed = (error: Error & { stdout: string; stderr: string }): never => {
    throw new Error(`${error.message}${error.stderr}${error.stdout}`);
  };
  await promisify(execFile)('bash', [script], { cwd: folder, env }).catch(failed);
}

describe('the examples of the documentation', () => {
  it('run as pasted, page after page, with the files that the service has', async () => {
    const pages = [
      'index',
      'guides/large-files',
      'guides/choosing-quality',
      ...['direct', 'uploads', 'jobs', 'webhooks', 'presets', 'estimate-and-usage'].map((name) => `reference/${name}`),
    ];
    const blocks = pages.flatMap((name) => examplesOf(`docs/${name}.md`));
    expect(blocks.length).toBeGreaterThan(8);
    const folder = freshFolder();
    const ca = path.join(folder, 'ca.pem');
    writeFileSync(ca, service.ca);
    const { file } = writeClientEnvironment(folder, ca);
    await paste(folder, [`. '${file}'`, ...blocks], { url: service.baseUrl, key: live });
    const size = (name: string): number => statSync(path.join(folder, name)).size;
    expect(size('smaller.jpg')).toBeLessThan(size('photo.jpg'));
    expect(readFileSync(path.join(folder, 'smaller.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
    expect(readFileSync(path.join(folder, 'photo.webp')).subarray(8, 12).toString()).toBe('WEBP');
  });
});

/** Returns the start of a service in the background of a script, which ends it. @param command of a document. */
function inBackground(command: string): string {
  return `${command.trimEnd()} >served 2>&1 & served=$!
      trap 'kill $served; wait $served || true' EXIT
      until [ -s ready.json ] && grep -q 'signs in once' served; do kill -0 $served; sleep 0.2; done`;
}

describe('the examples of the README', () => {
  it('process files as pasted into a fresh clone, beside the service that it starts', async () => {
    const [serve = '', ...rest] = examplesOf('README.md').filter(
      (text) => text.includes('/tmp/mediajobs.json') || /\bcall\b/.test(text),
    );
    expect(serve).toMatch(
      /^hack\/demo --serve --data \/var\/lib\/mediajobs --port 8443 --ready \/tmp\/mediajobs.json\n$/,
    );
    const dashboard = examplesOf('docs/dashboard.md');
    expect([rest.length, dashboard.length]).toEqual([3, 1]);
    const folder = freshFolder();
    for (const name of ['api', 'hack']) symlinkSync(path.join(ROOT, name), path.join(folder, name));
    const here = (text: string): string =>
      text
        .replaceAll('/var/lib/mediajobs', path.join(folder, 'data'))
        .replaceAll('/tmp/mediajobs.json', path.join(folder, 'ready.json'))
        .replaceAll('--port 8443', '--port 0');
    await paste(folder, [inBackground(here(serve)), ...[...rest, ...dashboard].map((text) => here(text))]);
    const printed = readFileSync(path.join(folder, 'served'), 'utf8');
    expect(printed).toContain(readFileSync(path.join(folder, 'data', 'client.env'), 'utf8').trimEnd());
    for (const name of ['CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE'])
      expect(printed).toMatch(new RegExp(`^export ${name}='/.+\\.pem'$`, 'm'));
    expect(readFileSync(path.join(folder, 'people.xlsx')).subarray(0, 2).toString()).toBe('PK');
    expect(readFileSync(path.join(folder, 'smaller.mp4')).subarray(4, 8).toString()).toBe('ftyp');
  });
});

describe('the guide to webhooks on a laptop', () => {
  it('ends with a genuine event, as pasted beside a service that may reach the receiver', async () => {
    const [receiver = '', event = ''] = examplesOf('docs/guides/webhooks-on-a-laptop.md');
    const guide = readFileSync(path.join(ROOT, 'docs/guides/webhooks-on-a-laptop.md'), 'utf8');
    const serve = /^```\n(MEDIAJOBS_PRIVATE_TARGETS[\s\S]*?)^```/m.exec(guide)?.[1] ?? '';
    const [account = ''] = examplesOf('README.md').filter((text) => text.includes('client.env'));
    const folder = freshFolder();
    for (const name of ['api', 'hack']) symlinkSync(path.join(ROOT, name), path.join(folder, name));
    copyFileSync(path.join(ROOT, 'api/data/samples/people.csv'), path.join(folder, 'people.csv'));
    const [port] = await freePorts(1);
    const here = (text: string): string =>
      text
        .replace('/path/to/', `${folder}/`)
        .replace('~/mediajobs', 'data --port 0 --ready ready.json')
        .replaceAll('/var/lib/mediajobs', path.join(folder, 'data'))
        .replaceAll('/tmp/mediajobs.json', path.join(folder, 'ready.json'))
        .replaceAll('9443', String(port));
    await paste(folder, [here(receiver), inBackground(here(serve)), here(account), here(event)]);
    expect(readFileSync(path.join(folder, 'events'), 'utf8')).toMatch(/^genuine job\.succeeded job_\w+\n$/);
  });
});
