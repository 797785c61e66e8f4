import { describe, expect, it } from 'vitest';
import { nextAttemptAt } from '#api/webhooks/schedule.ts';

describe('nextAttemptAt', () => {
  it.each([
    [1, 10],
    [2, 60],
    [3, 300],
    [4, 1800],
    [5, 7200],
    [6, 21_600],
    [7, 43_200],
  ])('schedules the attempt after attempt %i %i seconds after its failure', (attempt, seconds) => {
    expect(nextAttemptAt(attempt, new Date(5000))).toEqual(new Date(5000 + seconds * 1000));
  });

  it('returns null after the eighth attempt', () => {
    expect(nextAttemptAt(8, new Date(0))).toBeNull();
  });
});
