/** A client that a common generator makes from the running service's description compiles and makes a job. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import { expect, it } from 'vitest';
import { useService } from '#test/support/use-service.ts';

const { service, live, api } = await useService();
const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PROGRAM = `
import { client } from './client/client.gen.js';
import { getJobsById, getJobsByIdOutput, postJobs, postUploads, putUploadsByIdContent } from './client/sdk.gen.js';
import type { Job } from './client/types.gen.js';

const [baseUrl, key] = process.argv.slice(2);
if (baseUrl === undefined || key === undefined) throw new Error('usage: BASE_URL KEY');
client.setConfig({ baseUrl, auth: key });

const file = new Blob(['id,name\\n0010,Ada\\n']);
const upload = await postUploads({ body: { size: file.size, filename: 'people.csv' }, throwOnError: true });
await putUploadsByIdContent({ path: { id: upload.data.id }, body: file, throwOnError: true });
const created = await postJobs({
  body: { operation: 'convert', input: { upload: upload.data.id }, options: { convert: { to: 'json' } } },
  headers: { 'Idempotency-Key': 'made-by-a-client' },
  throwOnError: true,
});
let job: Job = created.data;
while (job.status === 'queued' || job.status === 'processing') {
  await new Promise((resolve) => setTimeout(resolve, 200));
  job = (await getJobsById({ path: { id: job.id }, throwOnError: true })).data;
}
const output = await getJobsByIdOutput({ path: { id: job.id }, parseAs: 'text', throwOnError: true });
const unknown = await getJobsById({ path: { id: 'job_none' } });
console.log(JSON.stringify({ status: job.status, format: job.result?.output_format, output: output.data, refusal: unknown.error?.error.code }));
`;

const COMPILER = {
  target: 'es2024',
  module: 'nodenext',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: ['node'],
  typeRoots: [path.join(ROOT, 'node_modules/@types')],
  strict: true,
  outDir: 'made',
  rootDir: '.',
};

it('runs a job: upload, create, wait, download', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'mediajobs-client-'));
  try {
    const description = path.join(folder, 'openapi.json');
    await writeFile(description, (await api('GET', '/v1/openapi.json', { key: null })).bytes);
    await createClient({
      input: description,
      output: path.join(folder, 'client'),
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent' },
    });
    await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(path.join(folder, 'make-job.ts'), PROGRAM);
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER }));
    const compiled = await run(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
      (error: unknown) => error,
    );
    expect((compiled as { stdout: string }).stdout).toBe('');
    const authority = path.join(service.data, 'tls', 'ca.pem');
    const { stdout } = await run(process.execPath, [path.join(folder, 'made/make-job.js'), service.baseUrl, live], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
    });
    expect(JSON.parse(stdout)).toEqual({
      status: 'succeeded',
      format: 'json',
      output: expect.stringContaining('"name":"Ada"'),
      refusal: 'not_found',
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}, 180_000);
