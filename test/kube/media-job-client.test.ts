import { describeMediaJobClient } from '#test/contract/media-job-client.ts';
import { makeKubeHome } from '#test/support/kube-home.ts';

describeMediaJobClient('on an API server', async () => {
  const { mediaJobs, close } = await makeKubeHome();
  return { client: mediaJobs, close };
});
