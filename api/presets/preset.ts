/**
 * Presets: options of an account under a name, shared by its live and test keys.
 *
 *   (none) ──POST──→ kept ──POST with its name──→ kept, other options, same id
 *                     └──DELETE──→ gone: jobs that were made with it keep their options
 *
 * Spec: Presets.
 */
import { z } from 'zod';
import { isId } from '#crds/ids.ts';
import { MediaError } from '#crds/media-error.ts';

export interface Preset {
  readonly id: string;
  readonly name: string;
  /** Exactly as sent; validated again at each use. */
  readonly options: object;
  readonly createdAt: Date;
  /** When the options were last replaced. */
  readonly updatedAt: Date;
}

export const PRESET_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const presetObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('preset'),
    name: z.string(),
    options: z.looseObject({}),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Preset' });

export function presetObject(preset: Preset): z.infer<typeof presetObjectSchema> {
  return {
    id: preset.id,
    object: 'preset',
    name: preset.name,
    options: { ...preset.options },
    created_at: preset.createdAt.toISOString(),
    updated_at: preset.updatedAt.toISOString(),
  };
}

/** True when the text may be the id or the name of a preset. */
export function mayNamePreset(text: string): boolean {
  return isId('preset', text) || PRESET_NAME.test(text);
}

export function presetNotFound(idOrName: string): MediaError {
  return new MediaError('not_found', `There is no preset \`${idOrName.slice(0, 63)}\` in this account.`);
}
