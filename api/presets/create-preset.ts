import { z } from 'zod';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { parseFields, readJsonBody } from '#api/http/json-body.ts';
import { PRESET_NAME, presetObject } from '#api/presets/preset.ts';
import { insertPreset, replacePresetOptions } from '#api/presets/preset-rows.ts';
import { MediaError } from '#crds/media-error.ts';
import { parseJsonOptions, resolveOptions } from '#crds/options/options.ts';
import { LIMITS } from '#crds/plans.ts';

const NAME_RULE = '1 to 63 lower-case letters, digits, hyphens and underscores, the first one a letter or digit';

export const presetRequestSchema = z.strictObject({
  name: z
    .string()
    .regex(PRESET_NAME, NAME_RULE)
    .meta({ description: `Unique in the account: ${NAME_RULE}.` }),
  options: z.looseObject({}).meta({ description: 'Options in the nested shape, as of a job; at least one.' }),
});

/**
 * `POST /v1/presets`: 201 for a new name, 200 when the options of an existing one were replaced.
 * Spec: Presets.
 */
export async function createPreset(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const { object } = await readJsonBody(request);
  const { name, options } = parseFields(presetRequestSchema, object);
  refuseOptions(options);
  const accountId = request.caller.account.id;
  const named = { accountId, name, options, at: deps.clock.now() };
  return deps.database.transaction(async (tx): Promise<ApiReply> => {
    await lockAccount(tx, accountId);
    const replaced = await replacePresetOptions(tx, named);
    if (replaced !== null) return { status: 200, body: presetObject(replaced) };
    const made = await insertPreset(tx, { ...named, id: deps.newId('preset') }, LIMITS.presets);
    if (made === null) throw full();
    return { status: 201, headers: { Location: `/v1/presets/${made.id}` }, body: presetObject(made) };
  });
}

/** The rules of a job's options; together with other options they are checked again at each use. */
function refuseOptions(options: object): void {
  const flat = parseJsonOptions(options);
  if (flat.size === 0)
    throw new MediaError('invalid_options', 'A preset sets at least one option.', { param: 'options' });
  resolveOptions(flat, null);
}

function full(): MediaError {
  const message = `The account has ${LIMITS.presets} presets, the most it may have. Delete one, or replace the options of an existing name.`;
  return new MediaError('preset_limit_reached', message);
}
