/** A namespace of the run's control plane with a watch of its MediaJobs, for tests of whole processes and of the client. */
import { inject } from 'vitest';
import { startReflector } from '#crds/kube/reflector.ts';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { systemTime } from '#crds/kube/time.ts';
import { instanceSelector } from '#crds/media-jobs/installation.ts';
import { KubernetesMediaJobs, mediaJobsPath } from '#crds/media-jobs/kubernetes-media-jobs.ts';
import type { MediaJobClient } from '#crds/media-jobs/media-job-client.ts';
import { isFinal, type MediaJob } from '#crds/contract/media-job.ts';
import { makeLog } from '#crds/process/log.ts';
import { connectAs, makeNamespace } from '#test/support/kube-connection.ts';
import { silentReflectorMetrics } from '#test/support/silent-reflector-metrics.ts';

export interface KubeHome {
  readonly admin: string;
  readonly client: KubeClient;
  readonly namespace: string;
  readonly mediaJobs: MediaJobClient;
  /** Resolves as soon as the MediaJob satisfies it. */
  whenever(name: string, satisfies: (mediaJob: MediaJob) => boolean): Promise<MediaJob>;
  whenFinal(name: string): Promise<MediaJob>;
  close(): Promise<void>;
}

export async function makeKubeHome(): Promise<KubeHome> {
  const admin = inject('kubeconfig');
  const { client, close } = connectAs(admin);
  const namespace = await makeNamespace(client);
  const ended = new AbortController();
  const log = makeLog('test', 'silent');
  const reflector = startReflector(
    { client, time: systemTime, log, metrics: silentReflectorMetrics },
    {
      path: mediaJobsPath(namespace),
      labelSelector: instanceSelector({ instance: 'mediajobs' }),
      firstList: 'consistent',
    },
    ended.signal,
  );
  const events = { record: () => undefined };
  const mediaJobs = new KubernetesMediaJobs(
    { client, reflector, events, time: systemTime, log, metrics: silentReflectorMetrics },
    { namespace, instance: 'mediajobs' },
    ended.signal,
  );
  const whenever = (name: string, satisfies: (mediaJob: MediaJob) => boolean): Promise<MediaJob> => {
    const found = new AbortController();
    return new Promise<MediaJob>((resolve) =>
      mediaJobs.watch(({ mediaJob }) => {
        if (mediaJob.metadata.name === name && satisfies(mediaJob)) resolve(mediaJob);
      }, found.signal),
    ).finally(() => found.abort());
  };
  return {
    admin,
    client,
    namespace,
    mediaJobs,
    whenever,
    whenFinal: (name) => whenever(name, ({ status }) => isFinal(status)),
    async close() {
      ended.abort();
      await close();
    },
  };
}
