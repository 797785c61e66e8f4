import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Kind } from '#crds/catalogue/formats.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import type { Facts, InspectedFile } from '#worker-image/engine/handler.ts';
import { makeReport } from '#worker-image/engine/report.ts';

let path = '';
beforeAll(async () => {
  path = join(await freshDirectory(), 'output');
  await writeFile(path, 'abc');
});

const RECEIPT = { inputSha256: 'input', outputSha256: 'output', tools: { sharp: '1' } };

interface Reported {
  readonly kind?: Kind;
  readonly input?: Facts;
  readonly output?: Facts;
  readonly nameWarning?: string | null;
  readonly warnings?: readonly string[];
  readonly keptOriginal?: boolean;
}

function report({
  kind = 'image',
  input = {},
  output = {},
  nameWarning = null,
  warnings = [],
  keptOriginal = false,
}: Reported): Promise<WorkerReport> {
  const work = { input: { kind, format: 'png', size: 12, warning: nameWarning } };
  const produced = { path, format: 'jpg', facts: output, warnings } as const;
  const file = { work, facts: input } as unknown as InspectedFile;
  return makeReport(file, { produced, keptOriginal }, RECEIPT);
}

describe('makeReport', () => {
  it('compares the sizes and contains the receipt', async () => {
    const { result, ...receipt } = await report({ output: { width: 3, height: 2 } });
    expect(result).toMatchObject({
      original_size: 12,
      output_size: 3,
      savings_percent: 75,
      increased: false,
      width: 3,
    });
    expect(receipt).toEqual(RECEIPT);
  });

  // Promise, Conventions and objects: Result object, in the header on one line of printable ASCII
  it.each<readonly [Kind, number | null, string | null]>([
    ['pdf', 7, null],
    ['video', null, 'hevc'],
    ['image', null, null],
  ])('of a file of the kind %s has %j pages and the codec %j', async (kind, pages, codec) => {
    const { result } = await report({ kind, input: { pages: 7 }, output: { videoCodec: 'hevc' } });
    expect([result.pages, result.video_codec]).toEqual([pages, codec]);
  });

  it('uses the shorter playing time, in milliseconds', async () => {
    const { result } = await report({ input: { durationSeconds: 60.00049 }, output: { durationSeconds: 60.02 } });
    expect(result.duration_seconds).toBe(60);
    expect((await report({})).result.duration_seconds).toBeNull();
  });

  it('contains ten warnings of 200 characters at most, without control characters', async () => {
    const warnings = ['a\nb', 'x'.repeat(300), ...Array.from({ length: 20 }, (_, index) => String(index))];
    const { result } = await report({ nameWarning: 'name', input: { warning: 'facts' }, warnings });
    expect(result.warnings.slice(0, 3)).toEqual(['name', 'facts', 'a b']);
    expect(result.warnings.map(({ length }) => length).slice(3, 5)).toEqual([200, 1]);
    expect(result.warnings).toHaveLength(10);
  });
});
