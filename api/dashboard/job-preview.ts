import { html, type Html } from '#api/dashboard/html.ts';
import type { Job } from '#api/jobs/job.ts';
import type { Sample, SampleFiles } from '#api/samples/samples.ts';
import type { Format } from '#crds/catalogue/formats.ts';

/** Formats that browsers display. */
const DISPLAYED: readonly Format[] = ['jpg', 'png', 'webp', 'avif', 'gif'];

/** Returns the published sample that the job processed; null for another file. */
export function sampleOf(samples: SampleFiles, { inputEtag }: Pick<Job, 'inputEtag'>): Sample | null {
  return inputEtag === null ? null : samples.bySha256(inputEtag.replaceAll('"', ''));
}

/** Returns whether a browser displays the result, which is still stored. */
export function hasPreview({ result, outputKey, filesDeletedAt }: Job): boolean {
  return result !== null && outputKey !== null && filesDeletedAt === null && DISPLAYED.includes(result.output_format);
}

/**
 * Returns the result beside its original; null when no browser displays it. Only a published sample is still there
 * after the job: other inputs are deleted when it ends.
 */
export function jobPreview(job: Job, sample: Sample | null, jobPath: string): Html | null {
  if (!hasPreview(job) || job.result === null) return null;
  const { width, height } = job.result;
  const size = width !== null && height !== null && html`width="${width}" height="${height}"`;
  const hasOriginal = sample?.format != null && DISPLAYED.includes(sample.format);
  return html`<h2>${hasOriginal ? 'Before and after' : 'The result'}</h2>
    <div class="compare">
      <div class="sides">
        ${
          hasOriginal &&
          html`<figure>
            <img src="/dashboard/samples/${sample.name}" alt="The original" ${size} />
            <figcaption class="hint">Before</figcaption>
          </figure>`
        }
        <figure>
          <img src="/dashboard${jobPath}/preview" alt="The result" ${size} />
          <figcaption class="hint">
            ${hasOriginal ? 'After' : 'The original was deleted when the job ended.'}
          </figcaption>
        </figure>
      </div>
    </div>`;
}
