import { activityRoutes } from '#api/dashboard/pages/activity.ts';
import { deliveryRoutes } from '#api/dashboard/pages/deliveries.ts';
import { homeRoutes } from '#api/dashboard/pages/home.ts';
import { jobListRoutes } from '#api/dashboard/pages/jobs.ts';
import { jobFileRoutes } from '#api/dashboard/pages/job-files.ts';
import { jobRoutes } from '#api/dashboard/pages/job.ts';
import { keyRoutes } from '#api/dashboard/pages/keys.ts';
import { memberRoutes } from '#api/dashboard/pages/members.ts';
import { oneTimeLinkRoutes } from '#api/dashboard/pages/one-time-links.ts';
import { operatorAccountPageRoutes } from '#api/dashboard/pages/operator-account.ts';
import { operatorAccountRoutes } from '#api/dashboard/pages/operator-accounts.ts';
import { operatorDeliveryRoutes } from '#api/dashboard/pages/operator-deliveries.ts';
import { operatorJobRoutes } from '#api/dashboard/pages/operator-jobs.ts';
import { operatorPriceRoutes } from '#api/dashboard/pages/operator-prices.ts';
import { operatorWorkRoutes } from '#api/dashboard/pages/operator-work.ts';
import { operatorOverviewRoutes } from '#api/dashboard/pages/operator-overview.ts';
import { overviewRoutes } from '#api/dashboard/pages/overview.ts';
import { planRoutes } from '#api/dashboard/pages/plan.ts';
import { playgroundRoutes } from '#api/dashboard/pages/playground.ts';
import { presetPageRoutes } from '#api/dashboard/pages/presets.ts';
import { profileRoutes } from '#api/dashboard/pages/profile.ts';
import { providerSignInRoutes } from '#api/dashboard/pages/provider-sign-in.ts';
import { quickStartRoutes } from '#api/dashboard/pages/quick-start.ts';
import { receiptRoutes } from '#api/dashboard/pages/receipts.ts';
import { sampleRoutes } from '#api/dashboard/pages/samples.ts';
import { secondStepRoutes } from '#api/dashboard/pages/second-step.ts';
import { signInRoutes } from '#api/dashboard/pages/sign-in.ts';
import { uploadPageRoutes } from '#api/dashboard/pages/uploads.ts';
import { usageRoutes } from '#api/dashboard/pages/usage.ts';
import { webhookListRoutes } from '#api/dashboard/pages/webhooks.ts';
import { webhookPageRoutes } from '#api/dashboard/pages/webhook.ts';
import type { Route } from '#api/dashboard/route.ts';

/** Every page and action of the dashboard. */
export const ROUTES: readonly Route[] = [
  ...signInRoutes,
  ...secondStepRoutes,
  ...oneTimeLinkRoutes,
  ...providerSignInRoutes,
  ...homeRoutes,
  ...profileRoutes,
  ...overviewRoutes,
  ...quickStartRoutes,
  ...playgroundRoutes,
  ...keyRoutes,
  ...jobListRoutes,
  ...jobRoutes,
  ...jobFileRoutes,
  ...receiptRoutes,
  ...uploadPageRoutes,
  ...usageRoutes,
  ...planRoutes,
  ...presetPageRoutes,
  ...webhookListRoutes,
  ...webhookPageRoutes,
  ...deliveryRoutes,
  ...sampleRoutes,
  ...memberRoutes,
  ...activityRoutes,
  ...operatorOverviewRoutes,
  ...operatorAccountRoutes,
  ...operatorAccountPageRoutes,
  ...operatorJobRoutes,
  ...operatorWorkRoutes,
  ...operatorDeliveryRoutes,
  ...operatorPriceRoutes,
];
