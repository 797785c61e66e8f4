import { field, type FormState } from '#api/dashboard/form.ts';
import type { Html } from '#api/dashboard/html.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { PLAN_NAMES, type PlanName } from '#crds/catalogue/plans.ts';

/** Returns the field of a form that selects a plan. */
export function planField(form: FormState): Html {
  return field(form, { name: 'plan', label: 'Plan', choices: PLAN_NAMES.map((name) => [name, name] as const) });
}

/** Returns the selected plan. @throws MediaError bad_request when it is not a plan. */
export function planOf(form: URLSearchParams): PlanName {
  const plan = PLAN_NAMES.find((name) => name === form.get('plan'));
  if (plan !== undefined) return plan;
  throw new MediaError('bad_request', `Choose one of ${PLAN_NAMES.join(', ')}.`, { param: 'plan' });
}
