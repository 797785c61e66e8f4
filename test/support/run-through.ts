import { expect } from 'vitest';
import type { ApiClient } from '#test/support/api-client.ts';

/** Uploads the bytes in one request; returns the upload's id. */
export async function upload(api: ApiClient, bytes: Buffer, filename: string): Promise<string> {
  const created = await api('POST', '/v1/uploads', { json: { size: bytes.length, filename } });
  expect(created.status).toBe(201);
  const { id, url } = created.json() as { id: string; url: string };
  const sent = await api('PUT', url, { body: bytes, headers: { 'content-type': 'application/octet-stream' } });
  expect(sent.status).toBe(200);
  return id;
}

/** Reads the job until it has ended. */
export async function finished(api: ApiClient, id: string, seconds = 60): Promise<Record<string, any>> {
  let job: Record<string, any> = {};
  await expect
    .poll(
      async () => {
        job = (await api('GET', `/v1/jobs/${id}`)).json();
        return ['succeeded', 'failed', 'canceled'].includes(String(job['status']));
      },
      { timeout: seconds * 1000, interval: 100 },
    )
    .toBe(true);
  return job;
}

/** Creates a job on the bytes and waits for its end. */
export async function runJob(
  api: ApiClient,
  file: { bytes: Buffer; filename: string },
  fields: Record<string, unknown>,
): Promise<Record<string, any>> {
  const id = await upload(api, file.bytes, file.filename);
  const created = await api('POST', '/v1/jobs', { json: { input: { upload: id }, ...fields } });
  expect(created.json()).toMatchObject({ object: 'job', status: 'queued' });
  return finished(api, String(created.json()['id']));
}
