import { describe, expect, it } from 'vitest';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { buildNewMediaJob } from '#test/support/build-media-job.ts';

describe('MediaJobs in memory', () => {
  it('use the uid and the clock of their dependencies', async () => {
    const client = new MemoryMediaJobs({
      clock: { now: () => new Date('2026-01-01T00:00:00Z') },
      newUid: () => 'uid-1',
    });
    await client.create(buildNewMediaJob());
    const [mediaJob] = await client.list();
    expect(mediaJob?.metadata).toMatchObject({ uid: 'uid-1', creationTimestamp: '2026-01-01T00:00:00.000Z' });
  });

  it('cannot be changed by readers or creators', async () => {
    const client = new MemoryMediaJobs({ clock: { now: () => new Date() }, newUid: () => 'uid-1' });
    const request = buildNewMediaJob();
    await client.create(request);
    request.spec.account = 'changed';
    request.ticket.heartbeatTokens.push('changed');
    const mediaJob = await client.get(request.name);
    expect(mediaJob?.spec.account).not.toBe('changed');
    expect((await client.ticket(request.name))?.heartbeatTokens).toHaveLength(3);
    expect(() => Object.assign(mediaJob?.spec.options.image ?? {}, { quality: 1 })).toThrow(TypeError);
  });

  it('pass errors of watchers to `onWatcherError`', async () => {
    const errors: unknown[] = [];
    const client = new MemoryMediaJobs({
      clock: { now: () => new Date() },
      newUid: () => 'uid-1',
      onWatcherError: (error) => errors.push(error),
    });
    const ended = new AbortController();
    client.watch(() => {
      throw new Error('A watcher that fails.');
    }, ended.signal);
    await client.create(buildNewMediaJob());
    await Promise.resolve();
    ended.abort();
    expect(errors).toHaveLength(1);
  });
});
