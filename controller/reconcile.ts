import { apply, type Applied, type ApplyDeps } from '#controller/apply.ts';
import { decide } from '#controller/decide.ts';
import { gatherFacts, type FactsDeps } from '#controller/facts.ts';

export type ReconcileDeps = FactsDeps & ApplyDeps;

/** Looks at a MediaJob as it is now and takes the one step that it needs next. */
export async function reconcile(deps: ReconcileDeps, name: string): Promise<Applied> {
  const facts = await gatherFacts(deps, name);
  return apply(deps, facts, decide(deps.timing, facts));
}
