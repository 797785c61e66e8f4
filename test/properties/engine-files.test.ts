/**
 * What nobody vouches for: files of every kind, truncated, changed and joined at random.
 * MEDIAJOBS_PROPERTY_RUNS files are tried (40); MEDIAJOBS_PROPERTY_SEED repeats a run.
 */
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONVERT_TARGETS, FORMATS, OPERATION_KINDS, type Format, type Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { startAttackedEngine, type Attack, type AttackedEngine } from '#test/hostile/attacked-engine.ts';
import { docx, odfXml, xlsx } from '#test/hostile/forge-office.ts';

const RUNS = Number(process.env['MEDIAJOBS_PROPERTY_RUNS'] ?? 40);
const SEED = Number(process.env['MEDIAJOBS_PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
const FILE_SECONDS = 90;

interface Whole {
  readonly format: Format;
  readonly bytes: Buffer;
}

let engine: AttackedEngine;
let files: readonly Whole[];
beforeAll(async () => {
  [engine, files] = await Promise.all([startAttackedEngine(), makeFiles()]);
}, 180_000);
afterAll(() => engine.close());

describe('the engine', () => {
  it(
    `refuses or processes ${RUNS} files that nobody vouches for (seed ${SEED})`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(damage, { minLength: 2, maxLength: 2 }), async (damages) => {
          const attacks = damages.map((one) => attackOf(one));
          const outcomes = await Promise.all(attacks.map((attack) => engine.send(attack)));
          for (const { code } of outcomes) expect(['internal', 'timeout', 'bad_request']).not.toContain(code);
        }),
        { numRuns: Math.ceil(RUNS / 2), seed: SEED, endOnFailure: true },
      );
    },
    RUNS * FILE_SECONDS * 1000,
  );

  it('leaves no file and processes the next valid file', async () => {
    expect(await engine.traces()).toEqual([]);
    const bytes = files.find(({ format }) => format === 'jpg')?.bytes ?? Buffer.alloc(0);
    const outcome = await engine.send({ bytes, filename: 'a.jpg', operation: 'compress' });
    expect(outcome.code).toBe('done');
  });
});

const share = fc.integer({ min: 0, max: 99_999 }).map((part) => part / 100_000);
/** Headers are at the start: half of the places lie there. */
const offset = fc.oneof(
  share,
  share.map((part) => part * 0.02),
);
const change = fc.oneof(
  fc.record({ what: fc.constant('cut' as const), at: share }),
  fc.record({ what: fc.constant('set' as const), at: offset, bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }) }),
  fc.record({ what: fc.constant('flip' as const), at: offset, bit: fc.integer({ min: 0, max: 7 }) }),
  fc.record({
    what: fc.constant('insert' as const),
    at: offset,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }),
  }),
  fc.record({ what: fc.constant('join' as const), at: share, other: share }),
);
const damage = fc.record({
  file: share,
  way: share,
  changes: fc.array(change, { minLength: 1, maxLength: 12 }),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;
type Change = Damage['changes'][number];

function attackOf({ file, way, changes }: Damage): Attack {
  const whole = pick(files, file);
  const bytes = changes.reduce<Buffer>((now, one) => changed(now, one), whole.bytes);
  const ways = waysOf(whole.format);
  return { ...pick(ways, way), bytes, filename: `a.${FORMATS[whole.format].extensions[0]}` };
}

function changed(bytes: Buffer, one: Change): Buffer {
  if (bytes.length === 0) return bytes;
  const at = Math.floor(one.at * bytes.length);
  switch (one.what) {
    case 'cut':
      return bytes.subarray(0, at);
    case 'set':
      return Buffer.concat([bytes.subarray(0, at), one.bytes, bytes.subarray(at + one.bytes.length)]);
    case 'flip':
      return Buffer.from(bytes).fill((bytes[at] ?? 0) ^ (1 << one.bit), at, at + 1);
    case 'insert':
      return Buffer.concat([bytes.subarray(0, at), one.bytes, bytes.subarray(at)]);
    case 'join': {
      const other = pick(files, one.other).bytes;
      return Buffer.concat([bytes.subarray(0, at), other.subarray(Math.floor(one.at * other.length))]);
    }
  }
}

function pick<T>(list: readonly T[], part: number): T {
  const found = list[Math.floor(part * list.length)];
  if (found === undefined) throw new Error('there is nothing to pick from');
  return found;
}

/** Every operation and target that the format's kind has. */
function waysOf(format: Format): { operation: Operation; options: SentOptions }[] {
  const { kind, raw } = FORMATS[format];
  if (raw === true) return [{ operation: 'compress', options: {} }];
  const plain = (['compress', 'strip_metadata'] as const).filter((name) => OPERATION_KINDS[name].includes(kind));
  return [
    ...plain.map((operation) => ({ operation, options: {} })),
    ...CONVERT_TARGETS[kind].map((to) => ({ operation: 'convert' as const, options: { convert: { to } } })),
  ];
}

async function makeFiles(): Promise<Whole[]> {
  const made = await sharedFixtures('image', 'font', 'pdf', 'table', 'video', 'audio');
  const read = made.map(async ({ path, format }) => ({ format, bytes: await readFile(path) }));
  return [...(await Promise.all(read)), ...documents()];
}

function documents(): Whole[] {
  const paragraph = '<text:p>Words</text:p>';
  return [
    { format: 'docx', bytes: docx({}) },
    { format: 'xlsx', bytes: xlsx({}) },
    { format: 'fodt', bytes: Buffer.from(odfXml({ type: 'text', body: paragraph }, true)) },
    { format: 'rtf', bytes: Buffer.from('{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 Words \\b more\\b0\\par}') },
    { format: 'txt', bytes: Buffer.from('Words\n') },
  ];
}
