import { z } from 'zod';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { fileSize } from '#api/files/file-size.ts';
import type { Queryable } from '#api/store/database.ts';
import { lastComponent } from '#api/uploads/upload.ts';
import {
  allowanceEntryReaching,
  countOnAllowance,
  insertUpload,
  uploadedBytesSince,
  type Upload,
} from '#api/uploads/upload-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';

/** Schema of the body of `POST /v1/uploads`. */
export const uploadRequestSchema = z.strictObject({
  size: fileSize,
  filename: z.string().max(4096).nullish().meta({ description: 'Only the last path component is kept.' }),
});

export type Uploader = Pick<AccountCaller, 'account' | 'livemode'>;

/** Fields of a new upload that its object shows. */
export type NewUpload = Pick<Upload, 'id' | 'size' | 'filename' | 'multipart' | 'expiresAt'>;

/** Creates an upload. @throws MediaError file_too_large, test_mode_sample_required, upload_allowance_reached */
export async function createUpload(
  deps: Pick<Dependencies, 'database' | 'clock' | 'newId'>,
  { caller, input }: { caller: Uploader; input: z.infer<typeof uploadRequestSchema> },
): Promise<NewUpload> {
  const { size } = input;
  refuseSize(caller, size);
  const createdAt = deps.clock.now();
  const upload = {
    id: deps.newId('upload'),
    size,
    filename: lastComponent(input.filename),
    multipart: size > LIMITS.singleUploadBytes,
    expiresAt: new Date(createdAt.getTime() + LIMITS.uploadUnusedSeconds * 1000),
  };
  const owner = { accountId: caller.account.id, livemode: caller.livemode };
  await deps.database.transaction(async (tx) => {
    await lockAccount(tx, owner.accountId);
    await countOnUploadAllowance(tx, { caller, bytes: size, at: createdAt });
    await insertUpload(tx, { ...upload, ...owner, createdAt });
  });
  return upload;
}

function refuseSize({ account, livemode }: Uploader, size: number): void {
  if (!livemode && size > LIMITS.singleUploadBytes) {
    const message = `A test key uploads published samples of at most ${LIMITS.singleUploadBytes} bytes in one request; this is ${size}.`;
    throw new MediaError('test_mode_sample_required', message, { param: 'size' });
  }
  const limit = PLANS[account.plan].maxAsyncBytes;
  if (size <= limit) return;
  const message = `The file has ${size} bytes; the plan ${account.plan} allows job files of at most ${limit} bytes.`;
  throw new MediaError('file_too_large', message, { param: 'size' });
}

/**
 * Counts bytes on the upload allowance of 24 hours. Call it under the account's lock.
 * @throws MediaError upload_allowance_reached
 */
export async function countOnUploadAllowance(
  tx: Queryable,
  entry: { caller: Uploader; bytes: number; at: Date },
): Promise<void> {
  const { account, livemode } = entry.caller;
  const limit = livemode
    ? LIMITS.uploadAllowanceFactor * PLANS[account.plan].maxAsyncBytes
    : LIMITS.testUploadAllowanceBytes;
  const owner = { accountId: account.id, livemode };
  const since = new Date(entry.at.getTime() - LIMITS.uploadUnusedSeconds * 1000);
  const used = await uploadedBytesSince(tx, owner, since);
  if (used + entry.bytes > limit) {
    const message = `Uploads of the last 24 hours total ${used} bytes; ${entry.bytes} more would exceed the limit of ${limit}.`;
    const last = await allowanceEntryReaching(tx, owner, { since, bytes: used + entry.bytes - limit });
    // The entry ends to count as long after now as it is after the start of the 24 hours.
    const wait = last === null ? {} : { retryAfterSeconds: (last.getTime() - since.getTime()) / 1000 };
    throw new MediaError('upload_allowance_reached', message, wait);
  }
  await countOnAllowance(tx, { ...owner, bytes: entry.bytes, at: entry.at });
}
