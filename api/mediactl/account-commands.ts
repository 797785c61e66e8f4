import type { Account } from '#api/accounts/account.ts';
import { selectAccounts } from '#api/accounts/account-rows.ts';
import { createAccount } from '#api/accounts/create-account.ts';
import { updateAccount } from '#api/accounts/update-account.ts';
import type { Service } from '#api/mediactl/open-service.ts';
import type { Answer } from '#api/mediactl/print.ts';
import type { Feature, PlanName } from '#crds/plans.ts';

interface CreateOptions {
  readonly name: string;
  readonly plan: PlanName;
  readonly paymentMethod?: boolean;
  readonly feature?: readonly Feature[];
}

export async function create(service: Service, options: CreateOptions): Promise<Answer> {
  const { name, plan, paymentMethod = false, feature = [] } = options;
  return { object: accountFields(await createAccount(service, { name, plan, paymentMethod, features: feature })) };
}

interface SetOptions {
  readonly plan?: PlanName;
  readonly paymentMethod?: boolean;
  readonly unpaidInvoice?: boolean;
  readonly suspended?: boolean;
  /** Micro-dollars; none: the plan's. */
  readonly spendCap?: number | 'none';
  readonly feature?: readonly Feature[];
  readonly noFeature?: readonly Feature[];
}

export async function set(service: Service, id: string, options: SetOptions): Promise<Answer> {
  const { spendCap, feature = [], noFeature = [], ...change } = options;
  const account = await updateAccount(service, id, {
    ...change,
    ...(spendCap === undefined ? {} : { spendCapMicroUsd: spendCap === 'none' ? null : spendCap }),
    addFeatures: feature,
    removeFeatures: noFeature,
  });
  return { object: accountFields(account) };
}

export async function list({ database }: Service): Promise<Answer> {
  return { list: (await selectAccounts(database)).map((account) => accountFields(account)) };
}

function accountFields(account: Account) {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    payment_method: account.paymentMethod,
    unpaid_invoice: account.unpaidInvoice,
    suspended: account.suspended,
    spend_cap_usd: account.spendCapMicroUsd === null ? null : account.spendCapMicroUsd / 1_000_000,
    features: account.features,
    created_at: account.createdAt.toISOString(),
  };
}
