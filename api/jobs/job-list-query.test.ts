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
    ['limit=0', 'limit', '`limit` is `0`: the minimum is 1.'],
    ['limit=101', 'limit', '`limit` is `101`: the maximum is 100.'],
    ['limit=1.5', 'limit', '`limit` is `"1.5"`: it has to be a whole number from 1 to 100.'],
    ['status=done', 'status', '`status` is `"done"`: it has to be one of queued,'],
    ['created_after=2026-01-01', 'created_after', 'it has to be an ISO 8601 time with zone, such as'],
    ['page=2', 'page', 'There is no field `page`.'],
    ['limit=1&limit=1', 'limit', 'more than once'],
  ])('refuses %s with the value and the rule', (query, param, message) => {
    expect(() => readJobListQuery(new URLSearchParams(query))).toThrow(
      expect.objectContaining({ code: 'bad_request', param, message: expect.stringContaining(message) }),
    );
  });
});
