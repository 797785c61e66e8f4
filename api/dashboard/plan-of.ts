import { MediaError } from '#crds/media-error.ts';
import { PLAN_NAMES, type PlanName } from '#crds/plans.ts';

/** @throws MediaError bad_request when the form's plan is none. */
export function planOf(form: URLSearchParams): PlanName {
  const plan = PLAN_NAMES.find((name) => name === form.get('plan'));
  if (plan !== undefined) return plan;
  throw new MediaError('bad_request', `Choose one of ${PLAN_NAMES.join(', ')}.`, { param: 'plan' });
}
