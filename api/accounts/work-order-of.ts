import type { Account } from '#api/accounts/account.ts';
import { featuresOf } from '#api/accounts/features-of.ts';
import type { Operation } from '#crds/catalogue/formats.ts';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import type { UnnamedWorkOrder } from '#crds/contract/work-order.ts';

export function workOrderOf(
  account: Pick<Account, 'plan' | 'features'>,
  operation: Operation,
  options: ResolvedOptions,
): UnnamedWorkOrder {
  return { operation, options, limits: fileLimits(account.plan), features: featuresOf(account) };
}
