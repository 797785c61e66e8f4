import type { AccountCaller } from '#api/accounts/find-caller.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { mayNamePreset, presetNotFound, type Preset } from '#api/presets/preset.ts';
import { findPreset, selectPresets } from '#api/presets/preset-rows.ts';

/** Returns all presets of the account, by name. */
export async function listPresets(
  { database }: Pick<Dependencies, 'database'>,
  { caller }: { caller: Pick<AccountCaller, 'account'> },
): Promise<readonly Preset[]> {
  return selectPresets(database, caller.account.id);
}

/** Returns the preset of an id or name. @throws MediaError not_found */
export async function getPreset(
  { database }: Pick<Dependencies, 'database'>,
  { caller, input: { idOrName } }: { caller: Pick<AccountCaller, 'account'>; input: { readonly idOrName: string } },
): Promise<Preset> {
  const preset = mayNamePreset(idOrName)
    ? await findPreset(database, { accountId: caller.account.id, idOrName })
    : null;
  if (preset === null) throw presetNotFound(idOrName);
  return preset;
}
