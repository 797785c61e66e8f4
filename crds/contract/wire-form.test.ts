import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mediaJobSpecSchema, mediaJobStatusSchema } from '#crds/contract/media-job.ts';
import { withNulls, withoutNulls } from '#crds/contract/wire-form.ts';
import { buildReport, buildSpec, buildStatus } from '#test/support/build-media-job.ts';

describe('the wire form of objects', () => {
  it.each([
    ['a spec', mediaJobSpecSchema, buildSpec({ kind: null, inputSize: null })],
    ['a status', mediaJobStatusSchema, buildStatus()],
    ['a final status', mediaJobStatusSchema, buildStatus({ phase: 'Succeeded', attempt: 1, report: buildReport() })],
  ] as const)('restores %s unchanged', (_what, schema, value) => {
    const wire: unknown = JSON.parse(JSON.stringify(withoutNulls<unknown>(value)));
    expect(JSON.stringify(wire)).not.toContain('null');
    expect(withNulls(schema, wire)).toEqual(value);
  });

  it('drops unknown fields', () => {
    expect(withNulls(z.object({ known: z.int().nullable() }), { unknown: 1 })).toEqual({ known: null });
  });

  it('contains no null at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(withoutNulls({ value: [value] }));
        expect(JSON.stringify(withoutNulls(JSON.parse(text)))).toBe(text);
        expect(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')).not.toMatch(/:null/);
      }),
    );
  });
});
