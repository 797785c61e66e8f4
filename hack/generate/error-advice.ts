import { LIMITS } from '#crds/catalogue/plans.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';

interface ErrorAdvice {
  /** Causes, each a sentence of Markdown. */
  readonly why: readonly string[];
  /** What the caller does about it, Markdown. */
  readonly fix: string;
}

const REPLACE_KEY = 'Create a key on the page **API keys** of the dashboard, or ask the operator for one.';

/** Causes of each error code and what to do about it, for docs/reference/errors.md. */
export const ERROR_ADVICE: Readonly<Record<ErrorCode, ErrorAdvice>> = {
  bad_request: {
    why: [
      'A field of the body, a query parameter or a part of a form is unknown, missing or malformed: `param` names it.',
      `The body is no JSON object or has more than ${LIMITS.jsonBodyBytes / 1024} KB; a form cannot be parsed.`,
      'A URL is not a public https URL; a preset with that name does not exist.',
      '`Content-Length` is missing where it is required, or differs from the bytes that follow or that an upload declared.',
      `\`Idempotency-Key\` is empty or has more than ${LIMITS.idempotencyKeyLength} characters.`,
      `The account has ${LIMITS.webhookEndpoints} webhook endpoints already.`,
      'Status 405: the path does not support the method. `Allow` lists the methods that it supports, unless HTTP has no such method.',
    ],
    fix: 'Correct what `param` names; the message has the value and the rule. [Endpoints](endpoints.md) lists the fields of each request.',
  },
  invalid_options: {
    why: [
      'An option or its section does not exist, often by a typing mistake: the message suggests a similar name.',
      'A value is outside its range or list, of another type, or `null`.',
      'The part `options` of a form is not valid JSON, or `convert` has no target.',
      'Two options contradict each other, such as `video.codec=h264` with `video.format=webm`.',
      "`page` is beyond the PDF's end, or the output format does not support `audio.sample_rate_hz`.",
    ],
    fix: 'Correct the option that `param` names. [Options](options.md) lists names, values and combinations; in JSON options are nested, as in `{"image": {"quality": 60}}`.',
  },
  missing_file: {
    why: ['The body is empty, or `Content-Length` is 0.', 'A form has no part `file`.'],
    fix: 'Send the bytes of the file as the body (`curl --data-binary @photo.jpg`) or as the part `file` of `multipart/form-data`.',
  },
  unsupported_version: {
    why: ['The header `Svc-Version` has a date that is no version of the API.'],
    fix: 'Send a version that the message lists, or omit the header.',
  },
  not_found: {
    why: [
      'The path is no endpoint; the message suggests a similar one.',
      'The id is of another account, or of the other mode: test keys do not see jobs of live keys.',
      'The files of the job were deleted, or its result was sent to your own storage; a job is readable for 30 days after its end.',
      'A job names an upload without content, one that is not completed, or one that a job has used already.',
    ],
    fix: 'Check the path, the id and the mode of the key. For a new job create a new upload.',
  },
  idempotency_conflict: {
    why: [
      'Another request with this key had a body that differs in at least one byte, also in white space or the order of fields.',
    ],
    fix: 'Use a new `Idempotency-Key` for a new job. To repeat a request, send exactly the same bytes.',
  },
  idempotency_in_progress: {
    why: ['Two requests with the same key overlap, for example because a client timed out and sent the request again.'],
    fix: 'Wait `Retry-After` seconds and send the same request: the response is that of the first one.',
  },
  job_not_finished: {
    why: ['A receipt attests an end, which the job does not have yet.'],
    fix: 'Wait for the event of the job, or until its `status` is `succeeded`, `failed` or `canceled`.',
  },
  upload_incomplete: {
    why: ['A part was not sent, or its request failed.'],
    fix: 'Send the parts whose numbers the message lists, then complete the upload again.',
  },
  upload_already_completed: {
    why: ['The upload was completed before, often by an earlier attempt of the same program.'],
    fix: 'Use the upload in a job. To send another file, create another upload.',
  },
  preset_limit_reached: {
    why: [`The account has ${LIMITS.presets} presets, and the name is new.`],
    fix: 'Delete a preset, or replace the options of an existing one by its name.',
  },
  file_too_large: {
    why: [
      'A direct request has more than 25 MB, or more than 10 MB with a test key.',
      'One request to an upload has more than 95 MB.',
      "The file is over the plan's size for jobs.",
    ],
    fix: 'Send a file above 25 MB as a [job](jobs.md), and one above 95 MB [in parts](uploads.md#large-files). The sizes of each plan: [Limits](limits-and-prices.md).',
  },
  unsupported_input: {
    why: [
      'The content is of no type that the service knows, whatever the name says.',
      'The operation does not apply to the kind: `compress` to fonts, tables and office documents, `strip_metadata` to anything but images and PDFs, `convert` and `strip_metadata` to camera RAW.',
      'A table was sent without a name: tables are recognized by their extension.',
    ],
    fix: 'Check the file, its name and the operation in [Formats](formats.md).',
  },
  unsupported_target: {
    why: ['`convert.to` is a format that this kind of file cannot become: the message lists the targets of the kind.'],
    fix: 'Choose a target of the kind from [Formats](formats.md).',
  },
  use_async_job: {
    why: ['Video and office documents may take minutes, longer than a request should.'],
    fix: 'Create a [job](jobs.md) with the same operation and options.',
  },
  missing_key: {
    why: [
      'The request has no header `Authorization`, or not in the form `Bearer <key>`.',
      'A client or a proxy has removed the header, for example after a redirect.',
    ],
    fix: 'Send `Authorization: Bearer svc_live_…`. A key in the query, a cookie or basic authentication is not read.',
  },
  invalid_key: {
    why: ['The key was not copied whole, or with a space or quotes.', 'The key is of another installation.'],
    fix: `Compare the key with the one that you stored. It is shown once only. ${REPLACE_KEY}`,
  },
  revoked_key: {
    why: ['Somebody has revoked the key; **Activity** in the dashboard says who and when.'],
    fix: `A revoked key never works again. ${REPLACE_KEY}`,
  },
  no_payment_method: {
    why: ['The account has the plan `none`, or `payg` without a payment method.'],
    fix: 'Ask the operator for a plan or to record a payment method. Test keys work without either.',
  },
  payment_required: {
    why: ['An invoice of the account is unpaid.'],
    fix: 'Pay it and ask the operator to record the payment. Test keys and download links continue to work.',
  },
  spend_cap_reached: {
    why: ["The month's usage, with the largest possible cost of running work, has reached the account's cap."],
    fix: 'An owner raises the cap on the page **Plan and spend cap**; otherwise work continues with the next month (UTC), or when running work ends below its largest cost.',
  },
  test_mode_sample_required: {
    why: [
      'The file is none of the published samples: they are recognized by their content, so a sample that was changed is not one.',
      'The job has an `input.url`, or the upload is above 95 MB.',
    ],
    fix: 'Use a [sample](basics.md#keys-and-modes), or a live key for your own files.',
  },
  account_suspended: {
    why: ['The operator has suspended the account.'],
    fix: 'Ask the operator. Nothing is deleted by a suspension.',
  },
  ip_not_allowed: {
    why: [
      'The key has an allow-list, and the request comes from another address, often the outgoing one of a proxy, NAT or cloud function.',
      'The request used IPv6 and the list has IPv4 addresses only, or the reverse.',
    ],
    fix: 'Send from an address of the list, or create a key with the new address: a list cannot be changed.',
  },
  feature_not_enabled: {
    why: ['The file is a video, or the result would be HEIC, and the account does not have the feature.'],
    fix: 'Ask the operator to enable the feature, or choose another format, such as `image.format=avif`.',
  },
  https_required: {
    why: [
      'The address begins with `http://`, or a proxy in front of the service forwards without `X-Forwarded-Proto`.',
    ],
    fix: 'Use `https://`. Revoke a key that was sent over plain http.',
  },
  invalid_signature: {
    why: ['The link is older than its `expires`, an hour by default.', 'A program has changed or decoded its query.'],
    fix: 'Retrieve the job again for a new link while its files exist, and use it unchanged.',
  },
  rate_limited: {
    why: ['Requests came faster than the plan allows, all keys of the mode together.'],
    fix: 'Wait `Retry-After` seconds. Spread requests by `RateLimit-Remaining` and `RateLimit-Reset`: [Rate limits](limits-and-prices.md#rate-limits).',
  },
  concurrency_limited: {
    why: [
      'The account has as many direct requests in progress as its plan allows. A response that you do not read counts until it is read.',
      'The account has as many queued and processing jobs as its plan allows.',
    ],
    fix: 'Send fewer requests at the same time and wait `Retry-After` seconds; wait for the events of jobs before creating more.',
  },
  upload_allowance_reached: {
    why: ['The uploads of the last 24 hours, used or not, have reached the allowance.'],
    fix: 'Wait `Retry-After` seconds, or let the service fetch the file from `input.url`, which does not count.',
  },
  limit_exceeded: {
    why: [
      'The image has more pixels, the PDF more pages or the recording more minutes than the plan allows.',
      `An animation has more than ${LIMITS.animationFrames.toLocaleString('en-US')} frames.`,
      'A table, sheet, presentation or text is larger than what can be converted: columns, cells, length of a row, pages.',
    ],
    fix: 'The message has the limit, and the value where it was counted to its end: send a smaller file, or ask for a larger [plan](limits-and-prices.md).',
  },
  encrypted_pdf: {
    why: [
      'The PDF can be opened with a password only. One that is merely protected against printing or copying is processed.',
    ],
    fix: 'Remove the password and send the file again; none can be supplied.',
  },
  processing_failed: {
    why: [
      'The file is damaged or truncated, or its content contradicts its format.',
      'A video has no video track, an audio file no audio track; a table cannot be parsed; an office document has a password.',
      'The file needs far more time or memory than files of its size.',
      'The result did not pass the comparison with its input.',
    ],
    fix: 'The message names the cause. Open the file in a program of its kind and save it again; the same file fails again.',
  },
  internal: {
    why: [
      'A fault of the service, which has logged it.',
      'A job: its engine was lost three times, for example because machines failed.',
    ],
    fix: 'Send the request again. If it fails again, report `request_id`, or the id of the job.',
  },
  engine_busy: {
    why: [
      'All engines work and their queue is full.',
      'The space for bodies was needed for other accounts before this body was complete, or another request is still joining the parts of the same upload.',
    ],
    fix: 'Wait `Retry-After` seconds and send the same request. Nothing was processed or billed. Where it happens often, use jobs, which wait.',
  },
  timeout: {
    why: [
      `A direct request took more than ${LIMITS.directSeconds} seconds.`,
      'A job waited 30 minutes for a free engine, or ran for 4 hours.',
    ],
    fix: 'Send a slow file as a [job](jobs.md). A job that waited too long: create it again later.',
  },
  canceled: {
    why: ['Somebody sent `DELETE /v1/jobs/{id}` or canceled the job in the dashboard, where **Activity** says who.'],
    fix: 'Create the job again if it is still wanted, with a new upload.',
  },
  input_fetch_failed: {
    why: [
      '`input.url` answered with another status than 200, or not in time.',
      'The response has no `Content-Length`, a content coding, fewer or more bytes than announced, or more than the plan allows.',
      'The address, or one that it redirects to, is private; or there were more than 3 redirects.',
    ],
    fix: 'The message has the cause. Open the address from outside your network with `curl -I`; sign it for longer if it had expired.',
  },
  input_changed: {
    why: ['Content was sent to the upload again after a job was created with it.'],
    fix: 'Create an upload for each job, and send its content once.',
  },
  input_missing: {
    why: ['Two jobs were created with one upload: the first one deleted it at its end.'],
    fix: 'Create an upload for each job.',
  },
  output_upload_failed: {
    why: [
      'Your storage answered the PUT with another status than 2xx, a redirect included: the message has the status.',
      'The signature of `output.url` expired before the work was done, or does not cover the headers in `output.headers`.',
      'The address is not a public https URL.',
    ],
    fix: 'Sign a URL that lasts for the duration of the job, for PUT and for exactly these headers, and create the job again.',
  },
};
