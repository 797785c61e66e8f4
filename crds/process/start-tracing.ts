import type { Log } from '#crds/process/log.ts';
import type { Settings } from '#crds/process/settings.ts';
import type { Tracing } from '#crds/process/tracing.ts';

type TracingConfig = Pick<Settings, 'MEDIAJOBS_TRACES_URL' | 'MEDIAJOBS_TRACES_SHARE'>;

/** Returns the tracing of a process; null when it is off. The SDK of OpenTelemetry is loaded only when it is on. */
export async function startTracing(deps: { log: Log }, name: string, config: TracingConfig): Promise<Tracing | null> {
  const { MEDIAJOBS_TRACES_URL: url, MEDIAJOBS_TRACES_SHARE: share } = config;
  if (url === undefined) return null;
  const { makeOtlpTracing } = await import('#crds/process/otlp-tracing.ts');
  return makeOtlpTracing(deps, { name, url, share });
}
