/** LibreOffice without any of our rules, given a document that names a file of the machine: the wall alone must hold. */
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { odf, WORDS } from '#test/hostile/forge-office.ts';
import { probeIsolation, type Isolation } from '#worker-image/tools/isolation.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

let isolation: Isolation;
let folder: string;
let secret: string;
let home: string;

beforeAll(async () => {
  isolation = await probeIsolation();
  folder = await mkdtemp(join(tmpdir(), 'file-wall-'));
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
  await convert('linked.fodt', 'doc', []);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, maxRetries: 5 }));

async function convert(name: string, to: string, walls: readonly string[]): Promise<void> {
  const { exitCode } = await makeRunCommand({ isolation: walls })({
    file: 'soffice',
    args: [`-env:UserInstallation=${pathToFileURL(join(home, 'profile')).href}`, '--convert-to', to, name],
    directory: home,
    signal: new AbortController().signal,
    timeoutSeconds: 100,
  });
  expect(exitCode).toBe(0);
}

/** Whether making a PDF of it opened the secret. Linux notes the time of a read when it was older than the last change. */
async function opensSecret(name: string, walls: readonly string[]): Promise<boolean> {
  await utimes(secret, new Date(0), new Date());
  await convert(name, 'pdf', walls);
  expect((await stat(join(home, 'linked.pdf'))).size).toBeGreaterThan(0);
  await rm(join(home, 'linked.pdf'));
  return (await stat(secret)).atimeMs !== 0;
}

describe('a document whose picture is a file of the machine', () => {
  it.each(['linked.doc', 'linked.fodt'])(
    'shows it in the open and not behind the file wall: %s',
    async (name) => {
      expect(await opensSecret(name, [])).toBe(true);
      expect(await opensSecret(name, isolation.child(home))).toBe(!isolation.seesOnlyHome);
    },
    300_000,
  );
});
