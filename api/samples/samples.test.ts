import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES, FORMATS, KINDS } from '#crds/catalogue/formats.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import { loadSamples } from './samples.ts';

const folder = join(import.meta.dirname, '../data/samples');
const samples = loadSamples();

describe('the published samples', () => {
  it('are exactly the files in the folder', async () => {
    expect((await readdir(folder)).toSorted()).toEqual(samples.all.map((sample) => sample.name).toSorted());
  });

  it.each(samples.all)('include $name with the size and hash of the manifest', async ({ name, size, sha256 }) => {
    const bytes = await readFile(join(folder, name));
    expect(bytes.length).toBe(size);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  });

  it('fit into a direct request with a test key, except for two that are for jobs', () => {
    const large = samples.all.filter((sample) => sample.size > LIMITS.testDirectBytes);
    expect(large).toHaveLength(2);
    expect(Math.max(...large.map((sample) => sample.size))).toBeLessThan(LIMITS.testJobBytes);
  });

  it.each(FORMAT_NAMES.filter((format) => FORMATS[format].input))('include a valid file of format %s', (format) => {
    expect(samples.all.some((sample) => sample.format === format && sample.expected_error === null)).toBe(true);
  });

  it.each(KINDS)('include a valid file of kind %s', (kind) => {
    expect(samples.all.some((sample) => sample.kind === kind && sample.expected_error === null)).toBe(true);
  });

  it.each(['encrypted_pdf', 'processing_failed', 'limit_exceeded', 'unsupported_input'] as const)(
    'include a file that is refused with %s',
    (code) => {
      expect(samples.all.some((sample) => sample.expected_error === code)).toBe(true);
    },
  );

  it('are found by their content alone', async () => {
    const [sample] = samples.all;
    expect(samples.bySha256(sample?.sha256 ?? '')).toEqual(sample);
    expect(samples.bySha256('0'.repeat(64))).toBeNull();
    expect(samples.hasSize(sample?.size ?? 0)).toBe(true);
    expect(samples.hasSize(1)).toBe(false);
  });
});
