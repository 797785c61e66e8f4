import { describe, expect, it } from 'vitest';
import { jobRequestSchema } from '#api/jobs/job-request.ts';

const takes = (metadata: Record<string, string>): boolean =>
  jobRequestSchema.safeParse({ operation: 'compress', input: { upload: 'upl_x' }, metadata }).success;

describe('metadata of a job', () => {
  it('counts characters, whatever plane they are of', () => {
    expect(takes({ a: '😀'.repeat(500), ['😀'.repeat(40)]: 'v' })).toBe(true);
    expect(takes({ a: '😀'.repeat(501) })).toBe(false);
    expect(takes({ ['😀'.repeat(41)]: 'v' })).toBe(false);
  });
});
