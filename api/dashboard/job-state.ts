import { html, type Html } from '#api/dashboard/html.ts';
import { isUnfinished } from '#api/jobs/job.ts';
import type { JobObject } from '#api/jobs/job-object.ts';

/** Status and percent of a job; the script keeps those of unfinished ones up to date. */
export function jobState({ id, status, progress }: Pick<JobObject, 'id' | 'status' | 'progress'>): Html {
  return html`<span class="state" data-job="${id}"
    ><span class="status ${status}">${status}</span>${
      isUnfinished({ status }) &&
      html` <progress value="${progress.percent}" max="100" aria-label="Progress"></progress>
        <span class="percent">${progress.percent} %</span>`
    }</span
  >`;
}
