import { LOAD } from '#test/faults/load.ts';
import { RACES } from '#test/faults/races.ts';
import { JOB_SCENARIOS } from '#test/faults/scenarios-jobs.ts';
import { REQUEST_SCENARIOS } from '#test/faults/scenarios-requests.ts';
import { SERVER_SCENARIOS } from '#test/faults/scenarios-servers.ts';
import { WEBHOOK_SCENARIOS } from '#test/faults/scenarios-webhooks.ts';
import type { Scenario } from '#test/faults/scenario.ts';
import { SOAK } from '#test/faults/soak.ts';

/** All of them, by name. */
export const SCENARIOS: readonly Scenario[] = [
  ...REQUEST_SCENARIOS,
  ...JOB_SCENARIOS,
  ...WEBHOOK_SCENARIOS,
  ...SERVER_SCENARIOS,
  ...RACES,
  ...LOAD,
  SOAK,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));
