import { describe, expect, it } from 'vitest';
import { jobRequestSchema } from '#api/jobs/job-request.ts';

const accepts = (metadata: Record<string, string>): boolean =>
  jobRequestSchema.safeParse({ operation: 'compress', input: { upload: 'upl_x' }, metadata }).success;

describe('jobRequestSchema', () => {
  // Promise, Conventions and objects: Job object; metadata of 20 entries, 40 and 500 characters
  it('counts a character outside the Basic Multilingual Plane as one in metadata', () => {
    expect(accepts({ a: '😀'.repeat(500), ['😀'.repeat(40)]: 'v' })).toBe(true);
    expect(accepts({ a: '😀'.repeat(501) })).toBe(false);
    expect(accepts({ ['😀'.repeat(41)]: 'v' })).toBe(false);
  });

  it('replaces half of a surrogate pair in metadata', () => {
    const metadata = { 'a\ud800': 'b\udc00', c: '😀' };
    const parsed = jobRequestSchema.parse({ operation: 'compress', input: { upload: 'upl_x' }, metadata });
    expect(parsed.metadata).toEqual({ 'a\ufffd': 'b\ufffd', c: '😀' });
  });
});
