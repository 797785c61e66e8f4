/** LibreOffice without the engine's checks, with a document that links a file of the machine: isolation must suffice. */
import { closeSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { odf, WORDS } from '#test/hostile/forge-office.ts';
import { NO_ISOLATION, probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

let isolation: Isolation;
let folder: string;
let secret: string;
let home: string;

beforeAll(async () => {
  isolation = await probeIsolation();
  folder = await mkdtemp(join(tmpdir(), 'bubblewrap-'));
  home = join(folder, 'home');
  secret = join(folder, 'secret.png');
  await mkdir(home);
  await writeFile(
    secret,
    await sharp({ create: { width: 9, height: 9, channels: 3, background: '#f00' } })
      .png()
      .toBuffer(),
  );
  const picture = `<draw:frame svg:width="3cm" svg:height="3cm" text:anchor-type="as-char"><draw:image xlink:href="${pathToFileURL(secret).href}" xlink:type="simple" xlink:actuate="onLoad"/></draw:frame>`;
  const body = `<text:p>${WORDS}${picture}</text:p>`;
  await writeFile(join(home, 'linked.fodt'), odf(true, { type: 'text', body }));
  await convert('linked.fodt', 'doc', NO_ISOLATION);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, maxRetries: 5 }));

async function convert(name: string, to: string, isolation: Isolation): Promise<void> {
  const filter = isolation.openFilter();
  const soffice = ['soffice', `-env:UserInstallation=${pathToFileURL(join(home, 'profile')).href}`];
  const [file, ...args] = [...isolation.child(home), ...soffice, '--convert-to', to, name];
  const { exitCode } = await makeRunCommand()({
    file,
    args,
    directory: home,
    signal: new AbortController().signal,
    timeoutSeconds: 100,
    inherited: filter,
  });
  if (filter !== null) closeSync(filter);
  expect(exitCode).toBe(0);
}

/** Returns whether a conversion to PDF opened the secret, by its access time. */
async function opensSecret(name: string, isolation: Isolation): Promise<boolean> {
  await utimes(secret, new Date(0), new Date());
  await convert(name, 'pdf', isolation);
  expect((await stat(join(home, 'linked.pdf'))).size).toBeGreaterThan(0);
  await rm(join(home, 'linked.pdf'));
  return (await stat(secret)).atimeMs !== 0;
}

describe('a document with an image that is a file of the machine', () => {
  it.each(['linked.doc', 'linked.fodt'])(
    'opens the file without isolation only: %s',
    async (name) => {
      expect(await opensSecret(name, NO_ISOLATION)).toBe(true);
      expect(await opensSecret(name, isolation)).toBe(!isolation.seesOnlyOwnFolder);
    },
    300_000,
  );
});
