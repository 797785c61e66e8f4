import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MediaJobClient, MediaJobEvent } from '#crds/media-jobs/media-job-client.ts';
import type { MediaJob } from '#crds/contract/media-job.ts';
import { buildNewMediaJob, buildReport, buildStatus, jobIdOf } from '#test/support/build-media-job.ts';

interface TestedClient {
  readonly client: MediaJobClient;
  close(): Promise<void>;
}

/** Conformance tests of `MediaJobClient`, run against every implementation. */
export function describeMediaJobClient(name: string, makeClient: () => Promise<TestedClient>): void {
  describe(`MediaJobClient: ${name}`, () => {
    let tested: TestedClient;
    let client: MediaJobClient;
    const ended = { controller: new AbortController() };

    beforeEach(async () => {
      tested = await makeClient();
      client = tested.client;
      ended.controller = new AbortController();
    });
    afterEach(async () => {
      ended.controller.abort();
      await tested.close();
    });

    const create = async (...parts: Parameters<typeof buildNewMediaJob>): Promise<MediaJob> => {
      const request = buildNewMediaJob(...parts);
      expect(await client.create(request)).toBe('created');
      return read(client, request.name);
    };

    /** Collects events and resolves `until` as soon as they satisfy it. */
    const collect = () => {
      const events: MediaJobEvent[] = [];
      const wakers = new Set<() => void>();
      client.watch((event) => {
        events.push(event);
        for (const wake of wakers) wake();
      }, ended.controller.signal);
      const until = (satisfied: (events: readonly MediaJobEvent[]) => boolean): Promise<void> =>
        new Promise((resolve) => {
          const look = (): void => {
            if (satisfied(events)) resolve();
          };
          wakers.add(look);
          look();
        });
      return { events, until };
    };

    describe('create', () => {
      it('stores the spec, the labels and the ticket, without a status', async () => {
        const request = buildNewMediaJob();
        await client.create(request);
        const mediaJob = await read(client, request.name);
        expect(mediaJob.spec).toEqual(request.spec);
        expect(mediaJob.metadata).toMatchObject({ name: request.name, labels: request.labels });
        expect(mediaJob.metadata.uid).not.toBe('');
        expect(Number.isNaN(Date.parse(mediaJob.metadata.creationTimestamp))).toBe(false);
        expect(mediaJob.status).toBeUndefined();
        expect(await client.ticket(request.name)).toEqual(request.ticket);
      });

      it('stores annotations', async () => {
        const annotations = { 'mediajobs.dev/traceparent': '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
        const request = { ...buildNewMediaJob(), annotations };
        await client.create(request);
        expect((await read(client, request.name)).metadata.annotations).toEqual(annotations);
      });

      it('succeeds for a name that exists, without a change', async () => {
        const first = await create();
        expect(await client.create(buildNewMediaJob({ operation: 'convert' }))).toBe('exists');
        expect(await client.get(first.metadata.name)).toEqual(first);
      });

      it('refuses a spec that the schema refuses', async () => {
        const request = buildNewMediaJob();
        await expect(client.create({ ...request, spec: { ...request.spec, firstAttempt: 10 } })).rejects.toThrow();
        expect(await client.get(request.name)).toBeNull();
      });

      it('assigns another uid to a MediaJob that is created again after its deletion', async () => {
        const first = await create();
        await client.delete(first.metadata.name);
        const second = await create({ secretName: 'second' });
        expect(second.metadata.uid).not.toBe(first.metadata.uid);
      });
    });

    it('returns nothing for a name that was never created', async () => {
      expect(await client.get('job-unknown')).toBeNull();
      expect(await client.ticket('job-unknown')).toBeNull();
      expect(await client.resume('job-unknown', INPUT)).toBe(false);
      await expect(client.delete('job-unknown')).resolves.toBeUndefined();
    });

    it('lists every MediaJob', async () => {
      await create({ jobId: jobIdOf(1) });
      await create({ jobId: jobIdOf(2) });
      expect((await client.list()).map(({ spec }) => spec.jobId).toSorted()).toEqual([jobIdOf(1), jobIdOf(2)]);
    });

    describe('resume', () => {
      it('lifts the suspension and completes spec and ticket', async () => {
        const { metadata } = await create(
          { suspend: true, inputSize: null, kind: null },
          { inputEtag: null, filename: null },
        );
        expect(await client.resume(metadata.name, INPUT)).toBe(true);
        const { spec } = await read(client, metadata.name);
        expect(spec).toMatchObject({ suspend: false, inputSize: INPUT.inputSize, kind: INPUT.kind });
        const { inputEtag, filename } = INPUT;
        expect(await client.ticket(metadata.name)).toMatchObject({ inputEtag, filename });
      });

      it('changes nothing the second time', async () => {
        const { metadata } = await create({ suspend: true, inputSize: null, kind: null });
        await client.resume(metadata.name, INPUT);
        expect(await client.resume(metadata.name, { ...INPUT, inputSize: 5, filename: 'other' })).toBe(true);
        expect((await read(client, metadata.name)).spec.inputSize).toBe(INPUT.inputSize);
        expect((await client.ticket(metadata.name))?.filename).toBe(INPUT.filename);
      });
    });

    describe('updateStatus', () => {
      it('replaces the status and returns a new resourceVersion', async () => {
        const mediaJob = await create();
        const status = buildStatus({ attempt: 1, message: 'begins' });
        expect(await client.updateStatus(mediaJob, status)).toBe('updated');
        const after = await read(client, mediaJob.metadata.name);
        expect(after.status).toEqual(status);
        expect(after.metadata.resourceVersion).not.toBe(mediaJob.metadata.resourceVersion);
      });

      it('refuses a writer that has an older view', async () => {
        const mediaJob = await create();
        await client.updateStatus(mediaJob, buildStatus({ attempt: 1 }));
        expect(await client.updateStatus(mediaJob, buildStatus({ attempt: 2 }))).toBe('conflict');
        expect((await read(client, mediaJob.metadata.name)).status?.attempt).toBe(1);
      });

      it('returns `gone` for a deleted MediaJob, also when its name exists again', async () => {
        const mediaJob = await create();
        await client.delete(mediaJob.metadata.name);
        expect(await client.updateStatus(mediaJob, buildStatus())).toBe('deleted');
        await create();
        expect(await client.updateStatus(mediaJob, buildStatus())).toBe('deleted');
      });

      it('refuses to lower the attempt', async () => {
        const created = await create();
        await client.updateStatus(created, buildStatus({ attempt: 2 }));
        const mediaJob = await read(client, created.metadata.name);
        expect(await client.updateStatus(mediaJob, buildStatus({ attempt: 1 }))).toBe('conflict');
      });

      it.each([
        ['Succeeded', buildStatus({ phase: 'Succeeded', attempt: 1, percent: 100, report: buildReport() })],
        ['Failed', buildStatus({ phase: 'Failed', attempt: 1, error: { code: 'internal', message: 'No.' } })],
      ] as const)('never changes the final status %s', async (_phase, final) => {
        const created = await create();
        expect(await client.updateStatus(created, final)).toBe('updated');
        const mediaJob = await read(client, created.metadata.name);
        expect(await client.updateStatus(mediaJob, buildStatus({ phase: 'Running', attempt: 1 }))).toBe('conflict');
        expect(await client.updateStatus(mediaJob, { ...final, message: 'other' })).toBe('conflict');
        expect((await read(client, created.metadata.name)).status).toEqual(final);
      });

      it('succeeds for the same status, without a change', async () => {
        const created = await create();
        await client.updateStatus(created, buildStatus({ attempt: 1 }));
        const mediaJob = await read(client, created.metadata.name);
        expect(await client.updateStatus(mediaJob, buildStatus({ attempt: 1 }))).toBe('updated');
        expect((await read(client, created.metadata.name)).metadata.resourceVersion).toBe(
          mediaJob.metadata.resourceVersion,
        );
      });
    });

    it('deletes the ticket with the MediaJob', async () => {
      const { metadata } = await create();
      await client.delete(metadata.name);
      expect(await client.get(metadata.name)).toBeNull();
      expect(await client.ticket(metadata.name)).toBeNull();
      expect(await client.list()).toEqual([]);
    });

    describe('watch', () => {
      it('reports the existing MediaJobs, then every change and the deletion', async () => {
        const mediaJob = await create();
        const { events, until } = collect();
        await until((seen) => seen.length >= 1);
        expect(events[0]).toEqual({ type: 'applied', mediaJob });
        await client.updateStatus(mediaJob, buildStatus({ attempt: 1 }));
        await until((seen) => seen.some((event) => event.type === 'applied' && event.mediaJob.status?.attempt === 1));
        await client.delete(mediaJob.metadata.name);
        await until((seen) => seen.some(({ type }) => type === 'deleted'));
        expect(events.at(-1)?.mediaJob.metadata.name).toBe(mediaJob.metadata.name);
      });

      it('does not call back before `watch` has returned', async () => {
        await create();
        const { events, until } = collect();
        expect(events).toEqual([]);
        await until((seen) => seen.length === 1);
      });

      it('continues when a watcher throws', async () => {
        client.watch(() => {
          throw new Error('A watcher that fails.');
        }, ended.controller.signal);
        const { until } = collect();
        await create({ jobId: jobIdOf(1) });
        await create({ jobId: jobIdOf(2) });
        await until((seen) => seen.length === 2);
      });

      it('reports nothing after its signal has aborted', async () => {
        const { events } = collect();
        ended.controller.abort();
        await create();
        expect(events).toEqual([]);
      });
    });
  });
}

const INPUT = {
  inputSize: 4711,
  inputEtag: '"stored"',
  filename: 'fetched.mov',
  kind: 'video',
} as const;

async function read(client: MediaJobClient, name: string): Promise<MediaJob> {
  const mediaJob = await client.get(name);
  if (mediaJob === null) throw new Error(`There is no MediaJob ${name}.`);
  return mediaJob;
}
