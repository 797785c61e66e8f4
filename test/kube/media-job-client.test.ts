import { inject } from 'vitest';
import { startReflector } from '#crds/kube/reflector.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeKubernetesMediaJobs, mediaJobsPath } from '#crds/kubernetes-media-jobs.ts';
import { makeLog } from '#crds/shared/log.ts';
import { describeMediaJobClient } from '#test/contract/media-job-client.ts';
import { connectAs, makeNamespace } from '#test/support/kube-connection.ts';
import { silentReflectorMetrics } from '#test/support/silent-reflector-metrics.ts';

describeMediaJobClient('on an API server', async () => {
  const { client, close } = connectAs(inject('kubeconfig'));
  const namespace = await makeNamespace(client);
  const ended = new AbortController();
  const log = makeLog('test', 'silent');
  const reflector = startReflector(
    { client, time: systemTime, log, metrics: silentReflectorMetrics },
    { path: mediaJobsPath(namespace), firstList: 'consistent' },
    ended.signal,
  );
  return {
    client: makeKubernetesMediaJobs(
      {
        client,
        reflector,
        events: { record: () => undefined },
        time: systemTime,
        log,
        metrics: silentReflectorMetrics,
      },
      { namespace },
      ended.signal,
    ),
    async close() {
      ended.abort();
      await close();
    },
  };
});
