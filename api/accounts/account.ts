import type { Feature, PlanName } from '#crds/catalogue/plans.ts';

/** Customer: who pays, and what its keys may do. `mediactl` and the dashboard create and change accounts. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly paymentMethod: boolean;
  readonly unpaidInvoice: boolean;
  readonly suspended: boolean;
  /** The account's own monthly cap; null: the plan's. */
  readonly spendCapMicroUsd: number | null;
  readonly features: readonly Feature[];
  readonly createdAt: Date;
}
