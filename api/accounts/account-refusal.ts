import type { Account } from '#api/accounts/account.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import { MediaError } from '#crds/media-error.ts';
import type { PlanName } from '#crds/plans.ts';

/** Plans that are paid by invoice; the others are charged to the payment method, so they need one. */
const INVOICED_PLANS: readonly PlanName[] = ['starter', 'growth', 'scale', 'enterprise'];

/**
 * Why the account's state keeps the caller out; null when it does not. The two groups stand at different
 * places in the order of refusals: `billing` (402) is for live keys, `permission` (403) for every key.
 * Spec: Authentication 9.
 */
export function accountRefusal(
  { livemode, account }: Pick<Caller, 'livemode' | 'account'>,
  group: 'billing' | 'permission',
): MediaError | null {
  switch (group) {
    case 'billing':
      return livemode ? billingRefusal(account) : null;
    case 'permission':
      return account.suspended
        ? new MediaError(
            'account_suspended',
            'The account is suspended. Ask the operator of the service to reactivate it.',
          )
        : null;
  }
}

function billingRefusal({ plan, paymentMethod, unpaidInvoice }: Account): MediaError | null {
  if (!paymentMethod && !INVOICED_PLANS.includes(plan)) {
    return new MediaError(
      'no_payment_method',
      'The account has no payment method or plan, which a live key needs. Add one, or use a test key with the sample files.',
    );
  }
  if (!unpaidInvoice) return null;
  return new MediaError('payment_required', 'The account has an unpaid invoice. Live keys work again once it is paid.');
}
