import { BUCKET_SCENARIOS } from '#test/faults/scenarios-bucket.ts';
import { LOAD } from '#test/faults/load.ts';
import { RACES } from '#test/faults/races.ts';
import { HOSTILE_SCENARIOS } from '#test/faults/scenarios-hostile.ts';
import { JOB_SCENARIOS } from '#test/faults/scenarios-jobs.ts';
import { REQUEST_SCENARIOS } from '#test/faults/scenarios-requests.ts';
import { SERVER_SCENARIOS } from '#test/faults/scenarios-servers.ts';
import { WEBHOOK_SCENARIOS } from '#test/faults/scenarios-webhooks.ts';
import type { Scenario } from '#test/faults/scenario.ts';
import { SOAK } from '#test/faults/soak.ts';

/** All scenarios, by name; those with a bucket last, because they need another world. */
export const SCENARIOS: readonly Scenario[] = [
  ...REQUEST_SCENARIOS,
  ...JOB_SCENARIOS,
  ...WEBHOOK_SCENARIOS,
  ...SERVER_SCENARIOS,
  ...BUCKET_SCENARIOS,
  ...HOSTILE_SCENARIOS,
  ...RACES,
  ...LOAD,
  SOAK,
].toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));

function orderOf({ files, name }: Scenario): string {
  return `${files === 'bucket' ? 2 : 1} ${name}`;
}
