import type { Dependencies } from '#api/dependencies.ts';
import { findPreset } from '#api/presets/preset-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { parseJsonOptions, type FlatOptions } from '#crds/catalogue/options/options.ts';

const NONE: FlatOptions = new Map();

/**
 * Returns the options of the preset that a request names, or no options when it names none.
 * @throws MediaError bad_request when the account has no such preset, invalid_options when the rules of options have
 * changed since it was saved.
 */
export async function presetOptions(
  { database }: Pick<Dependencies, 'database'>,
  { accountId, preset: idOrName }: { accountId: string; preset: string | null | undefined },
): Promise<FlatOptions> {
  if (idOrName == null) return NONE;
  const preset = await findPreset(database, { accountId, idOrName });
  if (preset !== null) return parseJsonOptions(preset.options);
  throw new MediaError('bad_request', `There is no preset \`${idOrName.slice(0, 63)}\` in this account.`, {
    param: 'preset',
  });
}
