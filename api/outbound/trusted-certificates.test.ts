import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rootCertificates } from 'node:tls';
import { trustedCertificates } from '#api/outbound/trusted-certificates.ts';

/** Returns the path of a file with the content; null leaves it missing. */
function fileWith(content: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'trusted-certificates-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'ca.pem');
  if (content !== null) writeFileSync(path, content);
  chmodSync(folder, 0o755);
  return path;
}

describe('trustedCertificates', () => {
  it.each([
    ['no file', null],
    ['a file with a certificate', rootCertificates[0] ?? ''],
  ])('returns a secure context for %s', async (_what, pem) => {
    const path = pem === null ? null : fileWith(pem);
    await expect(trustedCertificates(path)).resolves.toHaveProperty('context');
  });

  it.each([
    ['is missing', null, 'cannot be read (ENOENT)'],
    ['has no certificate', 'not PEM', 'has no certificate'],
  ])('names the setting when the file %s', async (_what, content, problem) => {
    const path = fileWith(content);
    await expect(trustedCertificates(path)).rejects.toMatchObject({
      name: 'ConfigError',
      problems: [expect.stringContaining(`MEDIAJOBS_EXTRA_CA_FILE: ${path} ${problem}.`)],
    });
  });
});
