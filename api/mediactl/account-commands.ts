import type { Account } from '#api/accounts/account.ts';
import { selectAccounts } from '#api/accounts/account-rows.ts';
import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { updateAccount } from '#api/accounts/update-account.ts';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import type { CommandResult } from '#api/mediactl/format-result.ts';
import type { Feature, PlanName } from '#crds/catalogue/plans.ts';

interface CreateOptions {
  readonly name: string;
  readonly plan: PlanName;
  readonly paymentMethod?: boolean;
  readonly feature?: readonly Feature[];
}

/** Creates an account and returns its fields. */
export async function create(service: MediactlService, options: CreateOptions): Promise<CommandResult> {
  const { name, plan, paymentMethod = false, feature = [] } = options;
  const input = { name, plan, paymentMethod, features: feature };
  return { object: accountFields(await createAccount(service, { caller: MEDIACTL, input })) };
}

interface SetOptions {
  readonly plan?: PlanName;
  readonly paymentMethod?: boolean;
  readonly unpaidInvoice?: boolean;
  readonly suspended?: boolean;
  /** Monthly spend cap in micro-dollars; `none` for the one of the plan. */
  readonly spendCap?: number | 'none';
  readonly feature?: readonly Feature[];
  readonly noFeature?: readonly Feature[];
}

/** Changes the given fields of an account and returns all fields. @throws MediaError not_found */
export async function set(service: MediactlService, id: string, options: SetOptions): Promise<CommandResult> {
  const { spendCap, feature = [], noFeature = [], ...change } = options;
  const input = {
    id,
    ...change,
    ...(spendCap === undefined ? {} : { spendCapMicroUsd: spendCap === 'none' ? null : spendCap }),
    addFeatures: feature,
    removeFeatures: noFeature,
  };
  return { object: accountFields(await updateAccount(service, { caller: MEDIACTL, input })) };
}

/** Lists all accounts. */
export async function list({ database }: MediactlService): Promise<CommandResult> {
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
