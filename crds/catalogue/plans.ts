/** Plans and their limits: docs/reference/limits-and-prices.md#limits-by-plan. Sizes are in bytes, MB and GB binary. */

const MB = 1024 ** 2;
const GB = 1024 ** 3;

export const PLAN_NAMES = ['none', 'payg', 'starter', 'growth', 'scale', 'enterprise'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

export interface Plan {
  readonly requestsPerSecond: number;
  readonly concurrentDirect: number;
  readonly concurrentJobs: number;
  readonly maxSyncBytes: number;
  readonly maxAsyncBytes: number;
  /** Maximum length of audio and video, in seconds. */
  readonly maxMediaSeconds: number;
  /** Maximum area of an image or a video frame, in pixels. */
  readonly maxPixels: number;
  readonly maxPdfPages: number;
  /** Default monthly spend cap in micro-dollars; null where nothing is billed. */
  readonly spendCapMicroUsd: number | null;
}

const plan = (
  rates: readonly [requestsPerSecond: number, concurrentDirect: number, concurrentJobs: number],
  files: readonly [maxAsyncBytes: number, minutes: number, megapixels: number, pages: number],
  capUsd: number | null,
): Plan => ({
  requestsPerSecond: rates[0],
  concurrentDirect: rates[1],
  concurrentJobs: rates[2],
  maxSyncBytes: 25 * MB,
  maxAsyncBytes: files[0],
  maxMediaSeconds: files[1] * 60,
  maxPixels: files[2] * 1_000_000,
  maxPdfPages: files[3],
  spendCapMicroUsd: capUsd === null ? null : capUsd * 1_000_000,
});

export const PLANS: Readonly<Record<PlanName, Plan>> = {
  none: plan([2, 2, 1], [100 * MB, 1, 50, 200], null),
  payg: plan([5, 5, 3], [500 * MB, 10, 100, 1000], 100),
  starter: plan([20, 20, 10], [2 * GB, 60, 100, 2000], 250),
  growth: plan([50, 50, 30], [5 * GB, 180, 100, 2000], 1000),
  scale: plan([150, 150, 100], [5 * GB, 180, 100, 2000], 5000),
  enterprise: plan([500, 500, 500], [5 * GB, 180, 100, 2000], 50_000),
};

/** Limits of every plan and of test keys: docs/reference/limits-and-prices.md#limits-for-every-plan. */
export const LIMITS = {
  animationFrames: 2000,
  directSeconds: 120,
  jobRunSeconds: 4 * 3600,
  jobWaitSeconds: 30 * 60,
  /** One attempt to fetch `input.url`, and all of them with the waits between and before. */
  fetchSeconds: 3600,
  jobFetchSeconds: 4 * 3600,
  jobAttempts: 3,
  /** Evictions, preemptions and drained nodes that do not count as one of these attempts. */
  jobDisruptions: 5,
  singleUploadBytes: 95 * MB,
  uploadPartBytes: 64 * MB,
  uploadUnusedSeconds: 24 * 3600,
  /** Upload allowance of 24 hours, as a multiple of the plan's largest job file. */
  uploadAllowanceFactor: 20,
  testUploadAllowanceBytes: 500 * MB,
  testDirectBytes: 10 * MB,
  testJobBytes: 25 * MB,
  testRequestsPerSecond: 2,
  jsonBodyBytes: 64 * 1024,
  presets: 100,
  usageDays: 366,
  webhookEndpoints: 10,
  activeKeys: 20,
  allowListEntries: 20,
  idempotencyKeyLength: 255,
  idempotencySeconds: 24 * 3600,
  outputHeaders: 20,
  outputHeaderName: 100,
  outputHeaderValue: 2000,
  inputRedirects: 3,
  metadataEntries: 20,
  metadataKey: 40,
  metadataValue: 500,
  webhookSeconds: 10,
  retentionSeconds: { min: 3600, max: 7 * 24 * 3600, default: 3600 },
  recordReadableSeconds: 30 * 24 * 3600,
} as const;

/** Features that can be enabled for an account. */
export const FEATURES = ['video', 'heic_output'] as const;
export type Feature = (typeof FEATURES)[number];

/** Limits of one file; part of every work order. */
export interface FileLimits {
  readonly maxPixels: number;
  readonly maxPages: number;
  readonly maxFrames: number;
  readonly maxSeconds: number;
}

export function fileLimits(planName: PlanName): FileLimits {
  const { maxPixels, maxPdfPages, maxMediaSeconds } = PLANS[planName];
  return { maxPixels, maxPages: maxPdfPages, maxFrames: LIMITS.animationFrames, maxSeconds: maxMediaSeconds };
}
