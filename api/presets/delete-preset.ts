import { z } from 'zod';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { mayNamePreset, presetNotFound } from '#api/presets/preset.ts';
import { deletePresetRow } from '#api/presets/preset-rows.ts';

export const deletedPresetSchema = z.object({ id: z.string(), object: z.literal('preset'), deleted: z.literal(true) });

/** `DELETE /v1/presets/{id or name}`: whoever names it afterwards is refused; jobs that are made keep their options. */
export async function deletePreset({ database }: ApiDeps, { caller, params }: CallerRequest): Promise<ApiReply> {
  const idOrName = params['id_or_name'] ?? '';
  const id = mayNamePreset(idOrName)
    ? await deletePresetRow(database, { accountId: caller.account.id, idOrName })
    : null;
  if (id === null) throw presetNotFound(idOrName);
  return { status: 200, body: { id, object: 'preset', deleted: true } };
}
