import { deliveryPill } from '#api/dashboard/delivery-pill.ts';
import { moment } from '#api/dashboard/format-values.ts';
import { html, type Content, type Html } from '#api/dashboard/html.ts';
import { isUnfinished, type Job } from '#api/jobs/job.ts';
import type { DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';

interface JobEvent {
  /** Color of the mark; empty for an event that is neither good nor bad. */
  readonly tone: '' | 'good' | 'bad' | 'warn';
  readonly text: Content;
  readonly at: Date | null;
  /** Text after the time. */
  readonly detail?: Content;
}

/** Returns what happened to a job, in order: creation, queue, processing, end, webhooks, deletion of its files. */
export function jobTimeline(job: Job, deliveries: readonly DeliveryRecord[], accountPath: string): Html {
  const events = [
    ...processingEvents(job),
    ...endEvents(job),
    ...deliveries.map((delivery) => deliveryEvent(delivery, accountPath)),
    ...deletionEvents(job),
  ];
  return html`<ol class="timeline">
    ${events.map(
      ({ tone, text, at, detail = null }) =>
        html`<li class="${tone}">
          ${text}
          <span class="sub">${at !== null && moment(at)} ${detail}</span>
        </li>`,
    )}
  </ol>`;
}

function processingEvents(job: Job): readonly JobEvent[] {
  const { createdAt, startedAt, attempt, inputStored } = job;
  const waited = startedAt === null ? null : `after ${seconds(createdAt, startedAt)} in the queue`;
  const created: JobEvent = { tone: 'good', text: 'Created and queued', at: createdAt };
  const fetching: JobEvent = { tone: 'warn', text: 'The file is being fetched from its URL', at: null };
  if (startedAt === null) return inputStored || !isUnfinished(job) ? [created] : [created, fetching];
  const text = attempt > 1 ? `Started; attempt ${attempt} is the last one` : 'Started';
  return [created, { tone: 'good', text, at: startedAt, detail: waited }];
}

function endEvents(job: Job): readonly JobEvent[] {
  const { completedAt: at, startedAt, outputUpload } = job;
  const sending: JobEvent = { tone: 'warn', text: 'The result is being sent to your URL', at: null };
  if (at === null) return outputUpload === 'due' ? [sending] : [];
  const detail = startedAt === null ? null : `after ${seconds(startedAt, at)} of processing`;
  return [{ ...endOf(job), at, detail }];
}

function endOf({ status, error, sendsOutput }: Job): Pick<JobEvent, 'tone' | 'text'> {
  if (status === 'succeeded')
    return { tone: 'good', text: sendsOutput ? 'Succeeded; the result was sent to your URL' : 'Succeeded' };
  if (status === 'canceled') return { tone: '', text: 'Canceled' };
  return { tone: 'bad', text: html`Failed with <code>${error?.code ?? 'internal'}</code>` };
}

const DELIVERY_TONES = { delivered: 'good', dropped: 'bad', retrying: 'warn', queued: 'warn' } as const;

function deliveryEvent(delivery: DeliveryRecord, accountPath: string): JobEvent {
  const { eventId, shownUrl, attempt, doneAt, lastError } = delivery;
  return {
    tone: DELIVERY_TONES[delivery.state],
    text: html`Webhook to
      <a class="break" href="/dashboard${accountPath}/deliveries/${eventId}">${shownUrl}</a> ${deliveryPill(delivery)}`,
    at: doneAt,
    detail:
      attempt > 1 || lastError !== null ? `attempt ${attempt}${lastError === null ? '' : `: ${lastError}`}` : null,
  };
}

function deletionEvents({ filesDeletedAt, expiresAt, status }: Job): readonly JobEvent[] {
  if (filesDeletedAt !== null) return [{ tone: '', text: 'Files deleted', at: filesDeletedAt }];
  if (status !== 'succeeded' || expiresAt === null) return [];
  return [{ tone: '', text: 'The result will be deleted', at: expiresAt }];
}

function seconds(from: Date, to: Date): string {
  return `${((to.getTime() - from.getTime()) / 1000).toFixed(1)} s`;
}
