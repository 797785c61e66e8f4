import { describe, expect, it } from 'vitest';
import { problemOf } from '#api/embedded/problem.ts';

describe('problemOf', () => {
  it.each([
    ['an info line', '{"level":30,"msg":"listening"}', null],
    ['a warning', '{"level":40,"msg":"slow"}', null],
    ['an error', '{"level":50,"msg":"a run failed"}', 'a run failed'],
    [
      'an error with its cause',
      '{"level":60,"err":{"message":"no such table"},"msg":"unhandled error, exiting"}',
      'unhandled error, exiting: no such table',
    ],
    ['a line that is not a log entry', 'Segmentation fault', 'Segmentation fault'],
    ['a truncated line', '{"level":50,"ms', '{"level":50,"ms'],
    ['an empty line', '', null],
  ])('returns the problem that %s reports', (_, line, problem) => {
    expect(problemOf(line)).toBe(problem);
  });
});
