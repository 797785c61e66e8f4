/** Time of a small job from the response to `POST /v1/jobs`, as observed in its row. */
import type { Database } from '#api/store/database.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { upload } from '#test/support/run-through.ts';

export interface JobTimes {
  /** Milliseconds from the response to the first heartbeat's mark in the row. */
  readonly toProcessing: number;
  /** `started_at − created_at` in milliseconds. */
  readonly byRecord: number;
  /** Milliseconds from sending the request to the success in the row. */
  readonly toSucceeded: number;
}

const ROWS = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');

/** Measures one job, CSV to JSON, on an idle service. */
export async function timeJob({ api, database }: { api: ApiClient; database: Database }): Promise<JobTimes> {
  const input = { upload: await upload(api, ROWS, 'people.csv') };
  const sentAt = performance.now();
  const created = await api('POST', '/v1/jobs', {
    json: { operation: 'convert', options: { convert: { to: 'json' } }, input },
  });
  const answeredAt = performance.now();
  const id = String(created.json()['id']);
  let startedAt = 0;
  for (;;) {
    const { rows } = await database.query<{ status: string; ms: number }>(
      'select status, extract(epoch from started_at - created_at) * 1000 as ms from jobs where id = $1',
      [id],
    );
    const status = rows[0]?.status ?? 'missing';
    if (startedAt === 0 && status !== 'queued') startedAt = performance.now();
    if (status === 'succeeded') {
      return {
        toProcessing: startedAt - answeredAt,
        byRecord: rows[0]?.ms ?? 0,
        toSucceeded: performance.now() - sentAt,
      };
    }
    if (status !== 'queued' && status !== 'processing') throw new Error(`the job ended with ${status}`);
  }
}
