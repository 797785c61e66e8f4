/**
 * schemathesis asks the running service what its description allows and forbids: no response is a server error, and
 * each is as described. Left out is one check, that whatever fits the schemas is accepted: ids, file contents,
 * public addresses and the pairs of options are beyond them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { useService } from '#test/support/use-service.ts';

const { service, live } = await useService('enterprise');

const PROGRAM = fileURLToPath(new URL('../../.tools/schemathesis/bin/schemathesis', import.meta.url));
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'unsupported_method',
  'ignored_auth',
];
const ARGUMENTS = [
  '--phases=coverage,fuzzing',
  '--max-examples=3',
  '--seed=1',
  '--no-shrink',
  '--continue-on-failure',
  '--warnings=off',
  `--checks=${CHECKS.join(',')}`,
  `--tls-verify=${path.join(service.data, 'tls', 'ca.pem')}`,
];

it('finds every response as described', async () => {
  const child = spawn(
    PROGRAM,
    ['run', `${service.baseUrl}/v1/openapi.json`, ...ARGUMENTS, '-H', `Authorization: Bearer ${live}`],
    {
      cwd: service.data,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const report = output.slice(output.search(/=+ (FAILURES|ERRORS|SUMMARY) =+/));
  expect(code, report).toBe(0);
  expect(Number(/(\d+) generated, \d+ passed/.exec(report)?.[1])).toBeGreaterThan(1000);
}, 300_000);
