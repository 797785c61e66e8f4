import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { mayNamePreset, presetNotFound, presetObject } from '#api/presets/preset.ts';
import { findPreset, selectPresets } from '#api/presets/preset-rows.ts';

/** `GET /v1/presets`: all of the account, by name. */
export async function listPresets({ database }: ApiDeps, { caller }: CallerRequest): Promise<ApiReply> {
  const presets = await selectPresets(database, caller.account.id);
  return {
    status: 200,
    body: { object: 'list', data: presets.map((preset) => presetObject(preset)), has_more: false },
  };
}

/** `GET /v1/presets/{id or name}`. */
export async function getPreset({ database }: ApiDeps, { caller, params }: CallerRequest): Promise<ApiReply> {
  const idOrName = params['id_or_name'] ?? '';
  const preset = mayNamePreset(idOrName)
    ? await findPreset(database, { accountId: caller.account.id, idOrName })
    : null;
  if (preset === null) throw presetNotFound(idOrName);
  return { status: 200, body: presetObject(preset) };
}
