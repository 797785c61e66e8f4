import type { Account } from '#api/accounts/account.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { PlanName } from '#crds/catalogue/plans.ts';

/** Plans that are paid by invoice. The others are charged to the payment method, so they need one. */
const INVOICED_PLANS: readonly PlanName[] = ['starter', 'growth', 'scale', 'enterprise'];

/**
 * Returns the refusal for the account's state; null when there is none. The groups have different positions in the
 * order of refusals: `billing` (402) applies to live keys, `permission` (403) to every key. See
 * docs/reference/errors.md#order-of-refusals.
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
