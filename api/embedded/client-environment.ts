/** What clients on this machine need to trust the certificate of a service: a file for shells to source. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

/** Certificates of public authorities in Debian. */
const SYSTEM_BUNDLE = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Writes `client.env` with variables for curl, Node and Python's requests, and the bundle of certificates that they
 * name: the own authority and those of the system, because curl and requests trust no others then.
 * Returns the path and the lines of the file.
 */
export function writeClientEnvironment(
  folder: string,
  caFile: string,
  systemBundle: string = SYSTEM_BUNDLE,
): { readonly file: string; readonly lines: string } {
  const bundle = path.join(folder, 'ca-bundle.pem');
  const system = existsSync(systemBundle) ? readFileSync(systemBundle, 'utf8') : '';
  writeFileAtomically(bundle, `${readFileSync(caFile, 'utf8').trimEnd()}\n${system}`);
  const variables = { CURL_CA_BUNDLE: bundle, NODE_EXTRA_CA_CERTS: caFile, REQUESTS_CA_BUNDLE: bundle };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  const file = path.join(folder, 'client.env');
  writeFileAtomically(file, lines.join(''));
  return { file, lines: lines.join('') };
}

/** Returns the text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
