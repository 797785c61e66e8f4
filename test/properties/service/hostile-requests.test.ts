import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { ApiResponse } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { api, makeAccount } = await useService('scale');
/** A fresh one for each test, which none of them may use up: a refusal for haste would prove nothing. */
let key = '';
beforeEach(async () => {
  key = (await makeAccount('scale')).live;
});

const SAMPLES = [
  'photo.jpg',
  'graphic.png',
  'report.pdf',
  'talk.mp3',
  'photo.heic',
  'letter.docx',
  'budget.xlsx',
  'typeface.ttf',
];
const samples = await Promise.all(
  SAMPLES.map((name) => readFile(new URL(`../../../api/data/samples/${name}`, import.meta.url))),
);

/** Nothing here may be our fault, and whatever is refused is refused in the one shape. */
function expectNoFault(response: ApiResponse): void {
  expect([500, 429]).not.toContain(response.status);
  if (response.status < 300) return;
  const { code } = (response.json() as { error: { code: ErrorCode } }).error;
  expectRefusal(response, code, { status: response.status });
}

/** The service still works on what is whole. */
async function expectHealthy(): Promise<void> {
  const response = await api('POST', '/v1/compress', { key, body: samples[0] ?? '' });
  expect(response.status).toBe(200);
}

describe('bytes that nobody vouches for', () => {
  it('are refused or processed when they are random', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 4096 }), async (bytes) => {
        expectNoFault(await api('POST', '/v1/compress', { key, body: Buffer.from(bytes) }));
      }),
      { numRuns: 50, endOnFailure: true },
    );
    await expectHealthy();
  }, 120_000);

  // Promise, Bad input, case by case: Damaged files
  it('are refused or processed when they are truncated real files', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...samples), fc.double({ min: 0, max: 1, noNaN: true }), async (file, share) => {
        expectNoFault(
          await api('POST', '/v1/compress', { key, body: file.subarray(0, Math.floor(file.length * share)) }),
        );
      }),
      { numRuns: 40, endOnFailure: true },
    );
    await expectHealthy();
  }, 180_000);

  // Promise, Bad input, case by case: Damaged files
  it('are refused or processed when they are real files with bytes changed', async () => {
    const change = fc.tuple(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 0, max: 255 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...samples),
        fc.array(change, { minLength: 1, maxLength: 20 }),
        async (file, changes) => {
          const bytes = Buffer.from(file);
          for (const [place, byte] of changes)
            bytes[Math.floor(Math.min(place, changes.length > 10 ? place : place * 0.01) * bytes.length)] = byte;
          expectNoFault(await api('POST', '/v1/compress', { key, body: bytes }));
        },
      ),
      { numRuns: 50, endOnFailure: true },
    );
    await expectHealthy();
  }, 180_000);
});

const FIELDS = [
  'operation',
  'input',
  'options',
  'output',
  'webhook_url',
  'metadata',
  'preset',
  'retention_seconds',
  'size',
  'filename',
  '__proto__',
  'x',
];
const almost = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<fc.JsonValue>(
    'compress',
    'convert',
    { upload: 'upl_00000000000000000000' },
    { url: 'https://example.com/a' },
    { url: 'https://[::1' },
    { image: { resize: {} } },
    -1,
    1e21,
    2 ** 53,
    '\0',
    '\ud800',
  ),
);
const body = fc.oneof(
  fc.jsonValue().map((json) => JSON.stringify(json)),
  fc.dictionary(fc.constantFrom(...FIELDS), almost).map((json) => JSON.stringify(json)),
  fc.string({ unit: 'binary' }),
);

describe('JSON bodies that make no sense', () => {
  it.each(['/v1/jobs', '/v1/uploads'])(
    'never fail us at POST %s',
    async (path) => {
      await fc.assert(
        fc.asyncProperty(body, async (text) => {
          expectNoFault(await api('POST', path, { key, body: text, headers: { 'content-type': 'application/json' } }));
        }),
        { numRuns: 120, endOnFailure: true },
      );
      await expectHealthy();
    },
    120_000,
  );
});
