import { z } from 'zod';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { recordAudit } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Preset } from '#api/presets/preset.ts';
import { insertPreset, replacePresetOptions } from '#api/presets/preset-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { parseJsonOptions, resolveOptions } from '#crds/catalogue/options/options.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

const NAME_RULE = '1 to 63 lower-case letters, digits, hyphens and underscores, the first one a letter or digit';

/** Schema of the body of `POST /v1/presets`. */
export const presetRequestSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, NAME_RULE)
    .meta({ description: `Unique in the account: ${NAME_RULE}.` }),
  options: z.looseObject({}).meta({ description: 'Options in the nested shape, as of a job; at least one.' }),
});

interface SavedPreset {
  readonly preset: Preset;
  /** False when the options of an existing preset were replaced. */
  readonly isNew: boolean;
}

/**
 * Creates a preset, or replaces the options of the preset that has the name.
 * @throws MediaError invalid_options, preset_limit_reached
 */
export async function savePreset(
  deps: Pick<Dependencies, 'database' | 'clock' | 'newId'>,
  { caller, input }: { caller: AccountCaller; input: z.infer<typeof presetRequestSchema> },
): Promise<SavedPreset> {
  const { name, options } = input;
  refuseOptions(options);
  const accountId = caller.account.id;
  const at = deps.clock.now();
  const named = { accountId, name, options, at };
  return deps.database.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    await recordAudit(tx, caller.actor, { at, action: 'preset.save', target: name, accountId });
    const replaced = await replacePresetOptions(tx, named);
    if (replaced !== null) return { preset: replaced, isNew: false };
    const inserted = await insertPreset(tx, { ...named, id: deps.newId('preset') }, LIMITS.presets);
    if (inserted === null) throw tooManyPresets();
    return { preset: inserted, isNew: true };
  });
}

/** Applies the rules of a job's options. They are checked again at each use, together with the request's options. */
function refuseOptions(options: object): void {
  const flat = parseJsonOptions(options);
  if (setsNothing(options)) {
    const message = 'A preset must set at least one option; its sections are empty.';
    throw new MediaError('invalid_options', message, { param: 'options' });
  }
  resolveOptions(flat, null);
}

/** Returns true when no section holds an option, nor `image.resize`. */
function setsNothing(options: object): boolean {
  return Object.values(options).every((value) => typeof value === 'object' && value !== null && setsNothing(value));
}

function tooManyPresets(): MediaError {
  const message = `The account has ${LIMITS.presets} presets, the most it may have. Delete one, or replace the options of an existing name.`;
  return new MediaError('preset_limit_reached', message);
}
