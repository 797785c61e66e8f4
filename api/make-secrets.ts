/** Creates the Secrets of an installation on Kubernetes that do not exist yet, and exits. */
import { makeSecrets, secretsPlanSchema } from '#api/installation-secrets/make-secrets.ts';
import { connect } from '#crds/kube/connection.ts';
import { makeKubeClient } from '#crds/kube/kube-client.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { systemTime } from '#crds/kube/time.ts';
import { systemClock } from '#crds/process/clock.ts';
import { loadConfig } from '#crds/process/config.ts';
import { makeLog } from '#crds/process/log.ts';
import { settings } from '#crds/process/settings.ts';

const secretsSettings = settings
  .pick({ MEDIAJOBS_SECRETS: true, MEDIAJOBS_LOG_LEVEL: true, KUBECONFIG: true })
  .required({ MEDIAJOBS_SECRETS: true });

const config = loadConfig(secretsSettings, process.env);
const log = makeLog('make-secrets', config.MEDIAJOBS_LOG_LEVEL);
const connection = connect(config.KUBECONFIG ?? null, 'mediajobs-make-secrets');
const client = makeKubeClient({
  connection,
  rateLimit: makeRateLimit(systemTime, { perSecond: 10, burst: 20 }),
  time: systemTime,
  metrics: { requested: () => undefined },
});
try {
  const plan = secretsPlanSchema.parse(config.MEDIAJOBS_SECRETS);
  await makeSecrets({ client, clock: systemClock, log, namespace: connection.namespace }, plan);
} catch (error) {
  log.error({ err: error }, 'making the Secrets failed');
  process.exitCode = 1;
} finally {
  await connection.close();
}
