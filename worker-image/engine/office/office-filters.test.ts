import { describe, expect, it } from 'vitest';
import { CONVERT_TARGETS, inputFormatsOf } from '#crds/catalogue/formats.ts';
import { exportFilter, importFilter, type OfficeKind } from '#worker-image/engine/office/office-filters.ts';

const KINDS: readonly OfficeKind[] = ['word', 'sheet', 'presentation'];
/** Formats of several versions, which only the detection of LibreOffice distinguishes. */
const DETECTED = ['doc', 'xls'];

describe('importFilter', () => {
  it.each(KINDS.flatMap((kind) => inputFormatsOf(kind)))(
    'names the only type that LibreOffice opens %s as',
    (format) => {
      expect(importFilter(format) === null).toBe(DETECTED.includes(format));
    },
  );
});

describe('exportFilter', () => {
  it.each(KINDS.flatMap((kind) => CONVERT_TARGETS[kind].map((target) => [kind, target] as const)))(
    'has a filter that converts %s to %s',
    (kind, target) => {
      expect(exportFilter(kind, target)).not.toBeNull();
    },
  );

  it('has none for a target of another kind', () => {
    expect(exportFilter('word', 'csv')).toBeNull();
    expect(exportFilter('presentation', 'txt')).toBeNull();
  });
});
