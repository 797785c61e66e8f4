import { apply, type Applied, type ApplyDeps } from '#controller/apply.ts';
import { decide } from '#controller/decide.ts';
import type { Decision } from '#controller/decision.ts';
import { gatherFacts, type FactsDeps } from '#controller/facts.ts';

export type ReconcileDeps = FactsDeps & ApplyDeps;

/** Looks at a MediaJob as it is now and takes the one step that it needs next. */
export async function reconcile(deps: ReconcileDeps, name: string): Promise<Applied> {
  const facts = await gatherFacts(deps, name);
  const decision = decide(deps.timing, facts);
  if (!givesUp(decision)) return apply(deps, facts, decision);
  const fresh = await gatherFacts(deps, name, true);
  return apply(deps, fresh, decide(deps.timing, fresh));
}

/** A run is given up on what is missing: that is looked for where it would be, not in what was last seen. */
function givesUp(decision: Decision): boolean {
  return decision.action === 'lose' || (decision.action === 'finish' && decision.outcome.outcome === 'failed');
}
