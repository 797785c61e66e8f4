import { apply, type Applied, type ApplyDeps } from '#controller/apply.ts';
import { decide } from '#controller/decide.ts';
import type { Decision } from '#controller/decision.ts';
import { gatherFacts, type FactsDeps } from '#controller/gather-facts.ts';

export type ReconcileDeps = FactsDeps & ApplyDeps;

/** Reads the state of a MediaJob and takes its next step. Returns the result and the time of the next call. */
export async function reconcile(deps: ReconcileDeps, name: string): Promise<Applied> {
  const facts = await gatherFacts(deps, name);
  const decision = decide(deps.timing, facts);
  if (!isIrreversible(decision)) return apply(deps, facts, decision);
  const fresh = await gatherFacts(deps, name, true);
  return apply(deps, fresh, decide(deps.timing, fresh));
}

/** Returns whether a decision follows from missing state: it is only applied if a read without cache confirms it. */
function isIrreversible(decision: Decision): boolean {
  return decision.action === 'lose' || (decision.action === 'finish' && decision.outcome.outcome === 'failed');
}
