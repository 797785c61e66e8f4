import { describe, expect, it } from 'vitest';
import { estimateNotes } from '#api/billing/estimate-notes.ts';
import type { ExpectedWork } from '#api/billing/expected-output.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { PLANS } from '#crds/catalogue/plans.ts';

const FREE = 'A file that cannot be made smaller is returned unchanged and free of charge.';
const work = (more: Partial<ExpectedWork>, options: object = {}): ExpectedWork => ({
  operation: 'compress',
  kind: 'image',
  inputFormat: 'jpg',
  options: resolveOptions(parseJsonOptions(options)),
  ...more,
});
const notes = (of: ExpectedWork, size = 1, features = { video: true, heicOutput: true }): string[] =>
  estimateNotes(of, { fields: { size }, plan: 'payg', features });

describe('estimateNotes', () => {
  it('returns only the note on free files for an image within the plan', () => {
    expect(notes(work({}))).toEqual([FREE]);
  });

  it('returns the assumptions first and the note on free files last', () => {
    const size = PLANS.payg.maxAsyncBytes + 1;
    const found = notes(work({ kind: 'video', inputFormat: 'mp4' }), size, { video: false, heicOutput: false });
    expect(found.map((note) => note.split(' ').slice(0, 3).join(' '))).toEqual([
      'Width and height',
      'Video is in',
      'The file is',
      'A file that',
    ]);
    expect(found[2]).toContain(`it has ${size} bytes, the plan payg allows ${PLANS.payg.maxAsyncBytes}.`);
  });

  it('mentions HEIC output that is not enabled, but not for a removal of metadata', () => {
    const heic = { kind: 'image', inputFormat: 'heic' } as const;
    const features = { video: true, heicOutput: false };
    expect(notes(work(heic), 1, features)[0]).toContain('HEIC output');
    expect(notes(work({ ...heic, operation: 'strip_metadata' }), 1, features)).toEqual([]);
  });

  it('does not warn of a file of exactly the size of the plan', () => {
    expect(notes(work({}), PLANS.payg.maxAsyncBytes)).toEqual([FREE]);
  });
});
