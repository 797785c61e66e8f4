import type { Account } from '#api/accounts/account.ts';
import type { Features } from '#crds/contract/work-order.ts';

/** Returns the account's features in the form of a work order. */
export function featuresOf({ features }: Pick<Account, 'features'>): Features {
  return { video: features.includes('video'), heicOutput: features.includes('heic_output') };
}
