import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeClientEnvironment } from '#api/embedded/client-environment.ts';

it('a sourced file names the own authority together with those of the system, in a folder of any name', () => {
  const folder = mkdtempSync(path.join(tmpdir(), "client of o'neil "));
  try {
    const [ca, system] = [path.join(folder, 'ca.pem'), path.join(folder, 'system.pem')];
    writeFileSync(ca, 'own\n');
    writeFileSync(system, 'public\n');
    const { file } = writeClientEnvironment(folder, ca, system);
    const script = '. "$1"; cat "$CURL_CA_BUNDLE" "$NODE_EXTRA_CA_CERTS" "$REQUESTS_CA_BUNDLE"';
    expect(execFileSync('sh', ['-c', script, 'sh', file], { encoding: 'utf8' })).toBe(
      'own\npublic\nown\nown\npublic\n',
    );
    writeClientEnvironment(folder, ca, path.join(folder, 'missing.pem'));
    expect(readFileSync(path.join(folder, 'ca-bundle.pem'), 'utf8')).toBe('own\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
