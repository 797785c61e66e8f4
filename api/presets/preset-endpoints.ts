import { z } from 'zod';
import type { Endpoint } from '#api/endpoint.ts';
import { createPreset, presetRequestSchema } from '#api/presets/create-preset.ts';
import { deletedPresetSchema, deletePreset } from '#api/presets/delete-preset.ts';
import { presetObjectSchema } from '#api/presets/preset.ts';
import { getPreset, listPresets } from '#api/presets/read-presets.ts';

const preset = (description: string) => ({ description, schema: presetObjectSchema });

const presetList = z.object({
  object: z.literal('list'),
  data: z.array(presetObjectSchema),
  has_more: z.literal(false),
});

/** Spec: Presets. */
export const presetEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/presets',
    summary: 'Create a preset, or replace the options of an existing one.',
    lane: 'other',
    body: presetRequestSchema,
    responses: { 200: preset('The preset with its new options.'), 201: preset('The new preset.') },
    errors: ['bad_request', 'invalid_options', 'preset_limit_reached'],
    handle: createPreset,
  },
  {
    method: 'GET',
    path: '/v1/presets',
    summary: 'List presets by name.',
    lane: 'other',
    responses: { 200: { description: 'All of them.', schema: presetList } },
    errors: [],
    handle: listPresets,
  },
  {
    method: 'GET',
    path: '/v1/presets/:id_or_name',
    summary: 'Retrieve a preset.',
    lane: 'other',
    responses: { 200: preset('The preset.') },
    errors: ['not_found'],
    handle: getPreset,
  },
  {
    method: 'DELETE',
    path: '/v1/presets/:id_or_name',
    summary: 'Delete a preset.',
    lane: 'other',
    responses: { 200: { description: 'It is gone.', schema: deletedPresetSchema } },
    errors: ['not_found'],
    handle: deletePreset,
  },
];
