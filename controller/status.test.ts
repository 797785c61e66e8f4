import { describe, expect, it } from 'vitest';
import type { Decision } from '#controller/decision.ts';
import { statusAfter } from '#controller/status.ts';
import { buildSpec, buildStatus } from '#test/support/build-media-job.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const HOSTILE = `pulled\u001b[2J\r\nfrom\u202e ${'x'.repeat(5000)}`;

type WritingDecision = Parameters<typeof statusAfter>[1];

function messageAfter(decision: Decision & WritingDecision): string {
  const mediaJob = {
    metadata: { name: 'job-1', uid: 'uid-1', resourceVersion: '1', creationTimestamp: NOW.toISOString(), labels: {} },
    spec: buildSpec(),
    status: buildStatus({ attempt: 1 }),
  };
  return statusAfter({ mediaJob, attempt: 1, run: null, heartbeat: null, now: NOW }, decision).message ?? '';
}

describe('the message of statusAfter', () => {
  it.each<[string, Decision & WritingDecision, RegExp]>([
    [
      'a wait',
      { action: 'show-waiting', waitingFor: { reason: 'image', message: HOSTILE } },
      /^pulled \[2J from {2}x+$/,
    ],
    [
      'a lost attempt',
      { action: 'lose', cause: 'evicted', message: HOSTILE },
      /^Attempt 1 was lost: pulled \[2J from {2}x+$/,
    ],
    [
      'a failure',
      {
        action: 'finish',
        reason: 'EngineFault',
        outcome: { outcome: 'failed', error: { code: 'internal', message: HOSTILE } },
      },
      /^pulled \[2J from {2}x+$/,
    ],
  ])('for %s has at most 1,000 characters and no control characters', (_what, decision, expected) => {
    const message = messageAfter(decision);
    expect(message).toHaveLength(1000);
    expect(message).toMatch(expected);
  });
});
