import { describe, expect, it } from 'vitest';
import { readJobListQuery } from '#api/jobs/job-list-query.ts';

describe('readJobListQuery', () => {
  it('returns the defaults of an empty query', () => {
    expect(readJobListQuery(new URLSearchParams())).toEqual({
      limit: 20,
      startingAfter: undefined,
      endingBefore: undefined,
      status: null,
      operation: null,
      createdAfter: null,
      createdBefore: null,
    });
  });

  it('parses every parameter, times with any zone', () => {
    const query =
      'limit=5&starting_after=job_1&status=failed&operation=convert&created_after=2026-01-01T02:00:00%2B02:00';
    expect(readJobListQuery(new URLSearchParams(query))).toMatchObject({
      limit: 5,
      startingAfter: 'job_1',
      status: 'failed',
      operation: 'convert',
      createdAfter: new Date('2026-01-01T00:00:00Z'),
    });
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['status=done', 'status'],
    ['created_after=2026-01-01', 'created_after'],
    ['page=2', 'page'],
    ['limit=1&limit=1', 'limit'],
  ])('refuses %s', (query, param) => {
    expect(() => readJobListQuery(new URLSearchParams(query))).toThrow(
      expect.objectContaining({ code: 'bad_request', param }),
    );
  });
});
