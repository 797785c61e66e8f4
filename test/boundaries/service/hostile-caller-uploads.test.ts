/** A caller who requests two results from one upload, against docs/reference/uploads.md#rules. */
import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { finished, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const { service, api } = await useService('scale');

const ROUNDS = 100;
const csv = Buffer.from('id,name\n1,Ada\n');
const toJson = { operation: 'convert', options: { convert: { to: 'json' } } };

const createJob = (input: string, key: string | null): Promise<ApiResponse> =>
  api('POST', '/v1/jobs', {
    json: { ...toJson, input: { upload: input } },
    headers: key === null ? {} : { 'idempotency-key': key },
  });

/** Creates two jobs on one upload concurrently, cancels those that were created, and returns their first statuses. */
async function race(keys: readonly (string | null)[]): Promise<string[]> {
  const input = await upload(api, csv, 'people.csv');
  const answers = await Promise.all(keys.map((key) => createJob(input, key)));
  const jobs = answers.map((response) => response.json());
  for (const { id } of jobs) await api('DELETE', `/v1/jobs/${id}`);
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  expect(await service.query('select 1 from uploads where id = $1', [input])).toEqual([]);
  return jobs.map(({ status, error }) => (error === null ? String(status) : String(error.code))).toSorted();
}

describe('of two jobs that are created concurrently on one upload', () => {
  it(`one has it and the other one fails with input_missing, ${ROUNDS} times, half of them under Idempotency-Keys`, async () => {
    for (let round = 0; round < ROUNDS; round += 2) {
      const begun = await Promise.all([race([null, null]), race([`first-${round}`, `second-${round}`])]);
      for (const ends of begun) expect(ends).toEqual(['input_missing', 'queued']);
    }
  }, 300_000);

  it('the one that gets the upload succeeds', async () => {
    const input = await upload(api, csv, 'people.csv');
    const created = await Promise.all([createJob(input, null), createJob(input, null)]);
    const ends = await Promise.all(created.map((response) => finished(api, String(response.json()['id']))));
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['failed', 'succeeded']);
  });
});

describe('a second job on an upload', () => {
  it('is created as failed while the first job is not final, and does not affect its upload', async () => {
    const input = await upload(api, csv, 'people.csv');
    const [first, second] = [await createJob(input, null), await createJob(input, null)];
    expect(second.json()).toMatchObject({
      status: 'failed',
      error: { code: 'input_missing', type: 'invalid_request_error' },
      billed: false,
      files_deleted: true,
      input: { filename: 'people.csv', size: csv.length },
    });
    expect(await finished(api, String(first.json()['id']))).toMatchObject({ status: 'succeeded' });
  });

  it('has the same response again for its Idempotency-Key', async () => {
    const input = await upload(api, csv, 'people.csv');
    await createJob(input, null);
    const answers = [await createJob(input, 'again'), await createJob(input, 'again')];
    expect(answers[1]?.json()).toEqual(answers[0]?.json());
    expect(answers[1]?.headers['svc-idempotent-replayed']).toBe('true');
  });

  it('is refused with not_found once the first job is final', async () => {
    const input = await upload(api, csv, 'people.csv');
    await finished(api, String((await createJob(input, null)).json()['id']));
    expectRefusal(await createJob(input, null), 'not_found', { param: 'input.upload' });
  });
});
