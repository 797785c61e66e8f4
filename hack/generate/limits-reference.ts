import { LIMITS, PLANS, type Plan, type PlanName } from '#crds/plans.ts';
import { PRICE_BOOK } from '#crds/prices.ts';

const MB = 1024 ** 2;
const NAMES = Object.keys(PLANS) as PlanName[];

/** docs/reference/limits-and-prices.md, from the plans, the limits and the price book that the service works by. */
export function limitsReference(): string {
  return `# Limits and prices

MB and GB are binary: 25 MB are 26,214,400 bytes. Limits on a file's pixels, pages, frames and length are refused with
422 \`limit_exceeded\`, with the value and the limit in the message.

## By plan

${table(
  ['plan', 'requests/s', 'burst', 'direct at once', 'jobs at once', 'direct file', 'job file'],
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

The plan \`none\` is for test keys only. A test key has ${LIMITS.testRequestsPerSecond} requests a second and a burst of ${2 * LIMITS.testRequestsPerSecond} on every plan, direct files
to ${bytes(LIMITS.testDirectBytes)}, job files to ${bytes(LIMITS.testJobBytes)} and ${bytes(LIMITS.testUploadAllowanceBytes)} of uploads in 24 hours. The spend cap is the default: an account may have
its own. Requests that are not direct have ten times the plan's requests a second, 20 at least, and a burst of twice that.

## For every plan

| limit | value |
|---|---|
| JSON body | ${bytes(LIMITS.jsonBodyBytes)} |
| frames of an animated image | ${number(LIMITS.animationFrames)} |
| direct request in work | ${LIMITS.directSeconds} seconds |
| job waiting for an engine | ${duration(LIMITS.jobWaitSeconds)} |
| job in work | ${duration(LIMITS.jobRunSeconds)} |
| attempts of a job whose engine is lost | ${LIMITS.jobAttempts} |
| upload in one request | ${bytes(LIMITS.singleUploadBytes)}; beyond that parts of ${bytes(LIMITS.uploadPartBytes)} |
| unused upload | kept ${duration(LIMITS.uploadUnusedSeconds)} |
| result of a job | kept ${duration(LIMITS.retentionSeconds.default)}, up to ${LIMITS.retentionSeconds.max / 86_400} days with \`retention_seconds\` |
| record of a job | readable ${LIMITS.recordReadableSeconds / 86_400} days after its end |
| \`Idempotency-Key\` | 1 to ${LIMITS.idempotencyKeyLength} characters, kept ${duration(LIMITS.idempotencySeconds)} |
| \`metadata\` of a job | ${LIMITS.metadataEntries} entries, keys to ${LIMITS.metadataKey} and values to ${LIMITS.metadataValue} characters |
| \`output.headers\` of a job | ${LIMITS.outputHeaders}, names to ${LIMITS.outputHeaderName} and values to ${number(LIMITS.outputHeaderValue)} characters |
| redirects of \`input.url\` | ${LIMITS.inputRedirects} |
| presets | ${LIMITS.presets} |
| webhook endpoints | ${LIMITS.webhookEndpoints} |
| answer of a webhook receiver | ${LIMITS.webhookSeconds} seconds |
| days of one usage query | ${LIMITS.usageDays} |
| active keys, addresses in a key's allow-list | ${LIMITS.activeKeys}, ${LIMITS.allowListEntries} |

## Prices

Price book of ${PRICE_BOOK.version}. Only success is charged: not what failed, was canceled or came back unchanged, and nothing of a
test key.

| meter | counts | unit | price |
|---|---|---|---|
| \`images\` | images; PDF pages made into images; files stripped of metadata | file | ${imagePrices()} |
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
