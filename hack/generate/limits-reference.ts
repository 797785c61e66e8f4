import { LIMITS, PLANS, type Plan, type PlanName } from '#crds/catalogue/plans.ts';
import { PRICE_BOOK } from '#crds/catalogue/prices.ts';

const MB = 1024 ** 2;
const NAMES = Object.keys(PLANS) as PlanName[];

/** Returns docs/reference/limits-and-prices.md, from the plans, limits and price book of the code. */
export function limitsReference(): string {
  return `# Limits and prices

MB and GB are binary: 25 MB are 26,214,400 bytes. Pixels are width times height. A file over a limit of pixels, pages,
frames or length is refused with 422 \`limit_exceeded\`; the message has the value and the limit.

## Limits by plan

${table(
  ['plan', 'requests/s', 'burst', 'concurrent direct requests', 'unfinished jobs', 'direct file', 'job file'],
  ({ requestsPerSecond, concurrentDirect, concurrentJobs, maxSyncBytes, maxAsyncBytes }) => [
    requestsPerSecond,
    2 * requestsPerSecond,
    concurrentDirect,
    concurrentJobs,
    bytes(maxSyncBytes),
    bytes(maxAsyncBytes),
  ],
)}

${table(
  ['plan', 'video or audio', 'pixels', 'PDF pages', 'uploads in 24 hours', 'monthly spend cap'],
  ({ maxMediaSeconds, maxPixels, maxPdfPages, maxAsyncBytes, spendCapMicroUsd }) => [
    duration(maxMediaSeconds),
    `${maxPixels / 1e6} megapixels`,
    maxPdfPages,
    bytes(LIMITS.uploadAllowanceFactor * maxAsyncBytes),
    spendCapMicroUsd === null ? '–' : usd(spendCapMicroUsd),
  ],
)}

The plan \`none\` is for test keys only. The spend cap is the default: an account may have its own.

## Rate limits

Direct requests take one token each from a bucket, per account and mode. It holds twice the plan's requests per second
and is refilled at the plan's requests per second. An empty bucket is refused with 429 \`rate_limited\`. Responses have
\`RateLimit-Limit\` (size of the bucket), \`RateLimit-Remaining\` (tokens left) and \`RateLimit-Reset\` (seconds until it is
full, or until the next request is admitted when this one was refused).

All other requests with a key share a second bucket: ten times the plan's requests per second, at least 20, and a burst
of twice that. With a test key it is 20 per second. Its refusals have \`Retry-After\`, but no \`RateLimit-*\` headers.

## Concurrency

A direct request over the plan's concurrent requests is refused with 429 \`concurrency_limited\` and \`Retry-After: 1\`. It is
checked before the rate limit and takes no token. A job over the plan's unfinished jobs is refused with the same code
and \`Retry-After: 5\`. Both count per account, for both modes together.

## Test keys

A test key has ${LIMITS.testRequestsPerSecond} direct requests per second and a burst of ${2 * LIMITS.testRequestsPerSecond} on every plan, direct files up to ${bytes(LIMITS.testDirectBytes)},
job files up to ${bytes(LIMITS.testJobBytes)}, and ${bytes(LIMITS.testUploadAllowanceBytes)} of uploads in 24 hours, none of them in parts. It works on the published sample
files only.

## Limits for every plan

| limit | value |
|---|---|
| JSON body | ${bytes(LIMITS.jsonBodyBytes)} |
| frames of an animated image | ${number(LIMITS.animationFrames)} |
| processing time of a direct request | ${LIMITS.directSeconds} seconds |
| time that a job waits for an engine | ${duration(LIMITS.jobWaitSeconds)} |
| time until the file at \`input.url\` is stored | ${duration(LIMITS.jobFetchSeconds)} |
| processing time of a job | ${duration(LIMITS.jobRunSeconds)} |
| attempts of a job whose engine is lost | ${LIMITS.jobAttempts} |
| evictions of a job's engine that do not count as an attempt | ${LIMITS.jobDisruptions} |
| upload in one request | ${bytes(LIMITS.singleUploadBytes)}; beyond that parts of ${bytes(LIMITS.uploadPartBytes)} |
| unused upload | kept ${duration(LIMITS.uploadUnusedSeconds)} |
| result of a job | kept ${duration(LIMITS.retentionSeconds.default)}, up to ${LIMITS.retentionSeconds.max / 86_400} days with \`retention_seconds\` |
| record of a job | readable ${LIMITS.recordReadableSeconds / 86_400} days after it finished |
| \`Idempotency-Key\` | 1 to ${LIMITS.idempotencyKeyLength} characters, kept ${duration(LIMITS.idempotencySeconds)} |
| \`metadata\` of a job | ${LIMITS.metadataEntries} entries, keys to ${LIMITS.metadataKey} and values to ${LIMITS.metadataValue} characters |
| \`output.headers\` of a job | ${LIMITS.outputHeaders}, names to ${LIMITS.outputHeaderName} and values to ${number(LIMITS.outputHeaderValue)} characters |
| redirects of \`input.url\` | ${LIMITS.inputRedirects} |
| presets | ${LIMITS.presets} |
| webhook endpoints | ${LIMITS.webhookEndpoints} |
| response time of a webhook receiver | ${LIMITS.webhookSeconds} seconds |
| days of a usage query | ${LIMITS.usageDays} |
| active keys of an account | ${LIMITS.activeKeys} |
| entries of a key's allow-list | ${LIMITS.allowListEntries} |
| sides of \`image.resize\` | 100 to 9,999 pixels; other values are moved to the nearest end |

## Prices

Price book of ${PRICE_BOOK.version}. Only success is charged: not work that failed, was canceled or returned the original, and
no work of a test key. An installation that bills nobody hides prices in its dashboard
([setting](../dashboard.md#for-operators)); the fields of the API stay.

| meter | counts | unit | price |
|---|---|---|---|
| \`images\` | images; PDF pages converted to images; files stripped of metadata | file | ${imagePrices()} |
| \`pdfs\` | PDFs compressed | started 100 pages | ${usd(PRICE_BOOK.flat.pdfs)} |
| \`documents\` | office documents converted | file | ${usd(PRICE_BOOK.flat.documents)} |
| \`audio_minutes\` | audio | started minute | ${usd(PRICE_BOOK.flat.audio_minutes)} |
| \`video_units\` | video | unit | ${usd(PRICE_BOOK.flat.video_units)} |
| \`files\` | tables and fonts converted | file | ${usd(PRICE_BOOK.flat.files)} |

Units of a started minute of video, by the pixels of the output: ${videoUnits()}; times ${codecs()}.
`;
}

function table(head: readonly string[], cells: (plan: Plan) => readonly (string | number)[]): string {
  const rows = NAMES.map(
    (name) =>
      `| ${name} | ${cells(PLANS[name])
        .map((cell) => (typeof cell === 'number' ? number(cell) : cell))
        .join(' | ')} |`,
  );
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n');
}

function bytes(size: number): string {
  if (size % (1024 * MB) === 0) return `${size / 1024 / MB} GB`;
  return size % MB === 0 ? `${number(size / MB)} MB` : `${size / 1024} KB`;
}

function duration(seconds: number): string {
  const [value, unit] = seconds % 3600 === 0 ? [seconds / 3600, 'hour'] : [seconds / 60, 'minute'];
  return `${value} ${unit}${value === 1 ? '' : 's'}`;
}

function usd(microUsd: number): string {
  return `$${(microUsd / 1e6).toLocaleString('en-US', { maximumFractionDigits: 6 })}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function imagePrices(): string {
  return PRICE_BOOK.images
    .map(({ upTo, microUsd }) =>
      Number.isFinite(upTo) ? `${usd(microUsd)} to ${number(upTo)} a month` : `then ${usd(microUsd)}`,
    )
    .join(', ');
}

function videoUnits(): string {
  return PRICE_BOOK.videoUnitsPerMinute
    .map(({ pixels, units }) => (Number.isFinite(pixels) ? `${units} to ${number(pixels)}` : `${units} above`))
    .join(', ');
}

function codecs(): string {
  return Object.entries(PRICE_BOOK.videoCodecFactor)
    .map(([codec, factor]) => `${factor} for ${codec}`)
    .join(', ');
}
