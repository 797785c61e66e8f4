import { html, type Html } from '#api/dashboard/html.ts';
import { isUnfinished } from '#api/jobs/job.ts';
import type { JobObject } from '#api/jobs/job-object.ts';

/** Returns status and percent of a job, which the script updates while the job is unfinished. */
export function jobState({ id, status, progress }: Pick<JobObject, 'id' | 'status' | 'progress'>): Html {
  return html`<span class="state" data-job="${id}"
    ><span class="status ${status}">${status}</span>${
      isUnfinished({ status }) &&
      html` <progress value="${progress.percent}" max="100" aria-label="Progress"></progress>
        <span class="percent">${progress.percent} %</span>`
    }</span
  >`;
}
