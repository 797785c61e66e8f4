import { describe, expect, it } from 'vitest';
import { jobTimeline } from '#api/dashboard/job-timeline.ts';
import type { Job } from '#api/jobs/job.ts';
import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';

const at = (seconds: number): Date => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);
const QUEUED = {
  id: 'job_1',
  status: 'queued',
  attempt: 0,
  createdAt: at(0),
  startedAt: null,
  completedAt: null,
  inputStored: true,
  sendsOutput: false,
  outputUpload: null,
  error: null,
  expiresAt: null,
  filesDeletedAt: null,
} as unknown as Job;
const SUCCEEDED = {
  status: 'succeeded',
  attempt: 1,
  startedAt: at(2),
  completedAt: at(5.5),
  expiresAt: at(3600),
} as const;
const DELIVERY: DeliveryRecord = {
  eventId: 'evt_1',
  accountId: 'acc_1',
  jobId: 'job_1',
  endpointId: null,
  shownUrl: 'https://example.com/…',
  attempt: 1,
  nextAt: at(9),
  createdAt: at(6),
  doneAt: at(7),
  delivered: true,
  lastStatus: 200,
  lastError: null,
  state: 'delivered',
};

/** Returns the tone and the text of each event. */
function eventsOf(changes: Partial<Job>, deliveries: readonly DeliveryRecord[] = []): string[] {
  const { markup } = jobTimeline({ ...QUEUED, ...changes }, deliveries, '/accounts/acc_1');
  return [...markup.matchAll(/<li class="(\w*)">([^]*?)<\/li>/g)].map(([, tone, text = '']) =>
    `${tone}: ${text.replaceAll(/<[^>]*>/g, '')}`.replaceAll(/\s+/g, ' ').trim(),
  );
}

describe('the timeline of a job', () => {
  it('begins with its creation', () => {
    expect(eventsOf({})).toEqual(['good: Created and queued 2026-01-01 00:00:00 UTC']);
  });

  it('says that the file of input.url is being fetched, until the job ends', () => {
    expect(eventsOf({ inputStored: false })[1]).toContain('warn: The file is being fetched');
    expect(eventsOf({ inputStored: false, status: 'canceled', completedAt: at(1) })[1]).toContain('Canceled');
  });

  it('has the times in the queue and of processing, and the deletion to come', () => {
    expect(eventsOf(SUCCEEDED)).toEqual([
      'good: Created and queued 2026-01-01 00:00:00 UTC',
      'good: Started 2026-01-01 00:00:02 UTC after 2.0 s in the queue',
      'good: Succeeded 2026-01-01 00:00:05 UTC after 3.5 s of processing',
      ': The result will be deleted 2026-01-01 01:00:00 UTC',
    ]);
  });

  it('has the number of the last attempt and the code of a failure', () => {
    const error = { code: 'processing_failed', message: 'No.' } as Job['error'];
    const events = eventsOf({ ...SUCCEEDED, status: 'failed', attempt: 3, error });
    expect(events[1]).toContain('attempt 3 is the last one');
    expect(events[2]).toContain('bad: Failed with processing_failed');
    expect(events).toHaveLength(3);
  });

  it('says that the result is being sent to output.url, and then that it was', () => {
    expect(eventsOf({ startedAt: at(1), status: 'processing', outputUpload: 'due' }).at(-1)).toContain('is being sent');
    expect(eventsOf({ ...SUCCEEDED, sendsOutput: true })[2]).toContain('the result was sent to your URL');
  });

  it('has the deliveries with attempts and errors, and the deletion of the files', () => {
    const dropped = { ...DELIVERY, attempt: 8, delivered: false, state: 'dropped', lastError: 'timeout' } as const;
    const events = eventsOf({ ...SUCCEEDED, filesDeletedAt: at(4000) }, [DELIVERY, dropped]);
    expect(events[3]).toMatch(/^good: Webhook to https:\/\/example\.com\/…/);
    expect(events[4]).toMatch(/^bad: .*attempt 8: timeout$/);
    expect(events[5]).toContain('Files deleted');
  });
});
