import { html } from '#api/dashboard/html.ts';
import { forMember, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { bytes, moment } from '#api/dashboard/format-values.ts';
import { selectUnfinishedUploads, type UnfinishedUpload } from '#api/uploads/upload-rows.ts';
import { partSizes } from '#api/uploads/upload.ts';

const MAX_UPLOADS = 100;

/** Page with the uploads that no finished job has used. */
export const uploadPageRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/uploads', { needs: 'read_only' }, async ({ database, clock }, { account }) => {
    const uploads = await selectUnfinishedUploads(database, {
      accountId: account.id,
      now: clock.now(),
      limit: MAX_UPLOADS,
    });
    return {
      kind: 'page',
      title: `Uploads – ${account.name}`,
      body: html`<h1>Uploads</h1>
        ${table({
          caption: `Uploads that no finished job has used, the newest ${MAX_UPLOADS}`,
          columns: ['Upload', 'File', '#Size', 'Mode', 'State', 'Created', 'Deleted unless used'],
          rows: uploads.map((upload) => [
            html`<code>${upload.id}</code>`,
            upload.filename ?? '–',
            bytes(upload.size),
            upload.livemode ? 'live' : 'test',
            stateOf(upload, account.id),
            moment(upload.createdAt),
            upload.jobId === null ? moment(upload.expiresAt) : 'with its job',
          ]),
          empty: 'No uploads. An upload is listed from its creation until its job has ended, or for 24 hours.',
        })}`,
    };
  }),
];

function stateOf({ size, multipart, uploadedAt, jobId, parts }: UnfinishedUpload, accountId: string) {
  if (jobId !== null)
    return html`used by <a href="/dashboard/accounts/${accountId}/jobs/${jobId}"><code>${jobId}</code></a>`;
  if (uploadedAt !== null) return 'uploaded';
  return multipart ? `${parts} of ${partSizes(size).length} parts` : 'awaiting its content';
}
