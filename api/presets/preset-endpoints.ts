import { z } from 'zod';
import type { Endpoint } from '#api/http/endpoint.ts';
import { readFields } from '#api/http/json-body.ts';
import { deletePreset } from '#api/presets/delete-preset.ts';
import { presetNotFound, presetObject, presetObjectSchema } from '#api/presets/preset.ts';
import { findPreset, selectPresets } from '#api/presets/preset-rows.ts';
import { presetRequestSchema, savePreset } from '#api/presets/save-preset.ts';

const preset = (description: string) => ({ description, schema: presetObjectSchema });

const presetList = z.object({
  object: z.literal('list'),
  data: z.array(presetObjectSchema),
  has_more: z.literal(false),
});

const deletedPreset = z.object({ id: z.string(), object: z.literal('preset'), deleted: z.literal(true) });

/** Endpoints of presets: docs/reference/presets.md. */
export const presetEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/presets',
    summary: 'Create a preset, or replace the options of an existing one.',
    lane: 'other',
    body: presetRequestSchema,
    responses: { 200: preset('The preset with its new options.'), 201: preset('The new preset.') },
    errors: ['bad_request', 'invalid_options', 'preset_limit_reached'],
    handle: async (deps, request) => {
      const input = await readFields(request, presetRequestSchema);
      const { preset: saved, isNew } = await savePreset(deps, { caller: request.caller, input });
      const body = presetObject(saved);
      return isNew ? { status: 201, headers: { Location: `/v1/presets/${saved.id}` }, body } : { status: 200, body };
    },
  },
  {
    method: 'GET',
    path: '/v1/presets',
    summary: 'List presets by name.',
    lane: 'other',
    responses: { 200: { description: 'All presets.', schema: presetList } },
    errors: [],
    handle: async (deps, { caller }) => {
      const data = (await selectPresets(deps.database, caller.account.id)).map((one) => presetObject(one));
      return { status: 200, body: { object: 'list', data, has_more: false } };
    },
  },
  {
    method: 'GET',
    path: '/v1/presets/:id_or_name',
    summary: 'Retrieve a preset.',
    lane: 'other',
    responses: { 200: preset('The preset.') },
    errors: ['not_found'],
    handle: async (deps, { caller, params }) => {
      const idOrName = params['id_or_name'] ?? '';
      const found = await findPreset(deps.database, { accountId: caller.account.id, idOrName });
      if (found === null) throw presetNotFound(idOrName);
      return { status: 200, body: presetObject(found) };
    },
  },
  {
    method: 'DELETE',
    path: '/v1/presets/:id_or_name',
    summary: 'Delete a preset.',
    lane: 'other',
    responses: { 200: { description: 'The deleted object.', schema: deletedPreset } },
    errors: ['not_found'],
    handle: async (deps, { caller, params }) => {
      const { id } = await deletePreset(deps, { caller, input: { idOrName: params['id_or_name'] ?? '' } });
      return { status: 200, body: { id, object: 'preset', deleted: true } };
    },
  },
];
