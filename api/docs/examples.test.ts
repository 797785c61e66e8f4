/** Tests that examples in the documentation match the schemas, that their types are right, and that its code verifies signatures. */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { estimateSchema } from '#api/billing/estimate.ts';
import { usageSchema } from '#api/billing/usage.ts';
import { jobObjectSchema } from '#api/jobs/job-object.ts';
import { presetObjectSchema } from '#api/presets/preset.ts';
import { uploadedObjectSchema, uploadObjectSchema, uploadPartObjectSchema } from '#api/uploads/upload-object.ts';
import { jobEventSchema } from '#api/openapi/webhook-events.ts';
import { webhookTestSchema } from '#api/webhooks/webhook-endpoints.ts';
import { signatureHeaders } from '#api/webhooks/sign.ts';
import { webhookEndpointWithSecretSchema } from '#api/webhooks/webhook-endpoint-object.ts';
import { ENDPOINTS } from '#api/http/endpoints.ts';
import { OPTION_PATHS } from '#crds/catalogue/options/options.ts';
import { ERROR_CODES } from '#crds/contract/error-codes.ts';
import { resultSchema } from '#crds/contract/result.ts';
import { examplesIn, freshFolder, ROOT, textOf } from '#test/support/documented-examples.ts';

const FOLDER = fileURLToPath(new URL('../../docs/', import.meta.url));

/** Schemas by the word after `json` in the first line of a code block. */
const SCHEMAS: Readonly<Record<string, z.ZodObject>> = {
  Estimate: estimateSchema,
  Job: jobObjectSchema,
  JobEvent: jobEventSchema,
  Preset: presetObjectSchema,
  Result: resultSchema,
  Upload: uploadObjectSchema,
  UploadPart: uploadPartObjectSchema,
  UploadedUpload: uploadedObjectSchema,
  Usage: usageSchema,
  WebhookEndpointWithSecret: webhookEndpointWithSecretSchema,
  WebhookTest: webhookTestSchema,
};

const blocks = globSync('**/*.md', { cwd: FOLDER }).flatMap((file) =>
  [...readFileSync(join(FOLDER, file), 'utf8').matchAll(/^```(\w+) (\w+)(?: \[\w+\])?\n([\s\S]*?)^```/gm)].map(
    ([, language = '', name = '', text = '']) => ({ file, language, name, text }),
  ),
);
const examples = blocks.filter(({ language }) => language === 'json');
const code = (language: string): string =>
  blocks.find((block) => block.language === language && block.name === 'verify')?.text ?? '';

describe('the examples of responses', () => {
  it('cover every kind of object', () => {
    expect(new Set(examples.map(({ name }) => name))).toEqual(new Set(['Error', ...Object.keys(SCHEMAS)]));
  });

  it.each(examples.filter(({ name }) => name !== 'Error'))('have a valid $name in $file', ({ name, text }) => {
    const parsed = SCHEMAS[name]?.strict().safeParse(JSON.parse(text));
    expect(parsed?.error).toBeUndefined();
  });

  it.each(examples.filter(({ name }) => name === 'Error'))('have an existing error code in $file', ({ text }) => {
    const { error } = JSON.parse(text) as { error: { code: string; type: string; doc_url: string } };
    expect(ERROR_CODES).toHaveProperty(error.code);
    expect(error.doc_url).toMatch(new RegExp(`/reference/errors#${error.code}$`));
  });
});

describe('the names in texts and examples', () => {
  const texts = ['index.md', ...globSync('{guides,reference}/**/*.md', { cwd: FOLDER })].map((file) => ({
    file,
    text: readFileSync(join(FOLDER, file), 'utf8'),
  }));

  it('of options are options', () => {
    const unknown = texts.flatMap(({ file, text }) =>
      [...text.matchAll(/\b(?:image|pdf|video|audio|convert)\.[a-z_]+(?:\.[a-z_]+)?(?=[=`&"\s])/g)]
        .map(([path]) => path)
        .filter((path) => !OPTION_PATHS.includes(path))
        .map((path) => `${file}: ${path}`),
    );
    expect(unknown).toEqual([]);
  });

  it('of endpoints are endpoints', () => {
    const requests = texts.flatMap(({ file, text }) =>
      [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[\w/{}.-]*[\w}])/g)].map(
        ([request, method = '', path = '']) => ({ file, request, method, path }),
      ),
    );
    expect(requests.length).toBeGreaterThan(50);
    const known = new Set(ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, '{}')}`));
    const unknown = requests.filter(
      ({ method, path }) => !known.has(`${method} ${path.replaceAll(/\{[^}]+\}?/g, '{}')}`),
    );
    expect(unknown.map(({ file, request }) => `${file}: ${request}`)).toEqual([]);
  });
});

describe('the examples in TypeScript', () => {
  it('have no error of types under `strict`', () => {
    const folder = freshFolder();
    const files = globSync('**/*.md', { cwd: FOLDER }).flatMap((file) => {
      const programs = examplesIn(textOf(join('docs', file)), 'TypeScript').filter((text) =>
        text.includes('process.env'),
      );
      return programs.map((text, index) => {
        const path = join(folder, `${file.replaceAll('/', '-')}-${index}.mts`);
        writeFileSync(path, text);
        return path;
      });
    });
    expect(files.length).toBeGreaterThan(30);
    const options = '--ignoreConfig --noEmit --strict --target es2024 --module nodenext --types node --skipLibCheck';
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const run = spawnSync(process.execPath, [tsc, ...options.split(' '), ...types, ...files], { encoding: 'utf8' });
    expect(run.stdout).toBe('');
    expect(run.status).toBe(0);
  });
});

describe('the code that verifies a signature', () => {
  const secret = 'whsec_2wfUCISWmbDoIpe3NPA4In8WZsLtRQsn';
  const body = '{"id":"evt_1","message":"Grüße 🌍"}';
  const at = new Date('2026-11-21T07:35:49.000Z');
  const header =
    signatureHeaders({ eventId: 'evt_1', secret, body: Buffer.from(body), sentAt: at })['svc-signature'] ?? '';
  const seconds = at.getTime() / 1000;
  const cases = [
    [header, body, seconds, true],
    [header, body, seconds + 299, true],
    [header, body, seconds + 301, false],
    [header, body, seconds - 301, false],
    [header, `${body} `, seconds, false],
    [header.replace(/.$/, (last) => (last === '0' ? '1' : '0')), body, seconds, false],
    [header.slice(0, -2), body, seconds, false],
    ['t=1', body, 1, false],
    [header.replace(/t=[0-9]+/, 't=abc'), body, seconds, false],
    [header.replace(/t=[0-9]+/, `t=${'9'.repeat(5000)}`), body, seconds, false],
    [header.replace(/v1=./, 'v1=é'), body, seconds, false],
    ['t=abc,v1=00', body, seconds, false],
    ['garbage', body, seconds, false],
    ['', body, seconds, false],
    [null, body, seconds, false],
  ] as const;
  const expected = cases.map(([, , , genuine]) => genuine);

  it('accepts only genuine events in JavaScript', async () => {
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code('js'))}`)) as {
      isGenuine: (secret: string, header: string | undefined, body: Buffer, now: number) => boolean;
    };
    const verified = cases.map(([sent, bytes, now]) => isGenuine(secret, sent ?? undefined, Buffer.from(bytes), now));
    expect(verified).toEqual(expected);
  });

  it('accepts only genuine events in Python', () => {
    const program = `${code('python')}
import json, sys
print(json.dumps([is_genuine(${JSON.stringify(secret)}, header, body.encode(), now) for header, body, now, _ in json.load(sys.stdin)]))`;
    const output = execFileSync('python3', ['-c', program], { input: JSON.stringify(cases) });
    expect(JSON.parse(String(output))).toEqual(expected);
  });
});
