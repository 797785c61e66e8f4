import { CHECKS } from '#controller/checks.ts';
import type { Decision } from '#controller/decision.ts';
import type { JobFacts } from '#controller/facts.ts';
import type { Timing } from '#controller/timing.ts';

/** Returns the decision of the first check that applies. Pure. */
export function decide(timing: Timing, facts: JobFacts): Decision {
  for (const { check } of CHECKS) {
    const decision = check(timing, facts);
    if (decision !== null) return decision;
  }
  throw new Error('The last check decides in every case.');
}
