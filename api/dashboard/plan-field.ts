import { field, type FormState } from '#api/dashboard/form.ts';
import type { Html } from '#api/dashboard/html.ts';
import { MediaError } from '#crds/media-error.ts';
import { PLAN_NAMES, type PlanName } from '#crds/plans.ts';

/** The choice of a plan in a form. */
export function planField(form: FormState): Html {
  return field(form, { name: 'plan', label: 'Plan', choices: PLAN_NAMES.map((name) => [name, name] as const) });
}

/** What was chosen there. @throws MediaError bad_request when it is no plan. */
export function planOf(form: URLSearchParams): PlanName {
  const plan = PLAN_NAMES.find((name) => name === form.get('plan'));
  if (plan !== undefined) return plan;
  throw new MediaError('bad_request', `Choose one of ${PLAN_NAMES.join(', ')}.`, { param: 'plan' });
}
