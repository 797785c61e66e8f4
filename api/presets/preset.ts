/**
 * Presets: options of an account under a name, shared by its live and test keys. See docs/reference/presets.md.
 *
 *   (none) ──POST──→ saved ──POST with its name──→ saved, other options, same id
 *                     └──DELETE──→ deleted: jobs that were created with it keep their options
 */
import { z } from 'zod';
import { MediaError } from '#crds/contract/media-error.ts';

export interface Preset {
  readonly id: string;
  readonly name: string;
  /** Exactly as sent; validated again at each use. */
  readonly options: object;
  readonly createdAt: Date;
  /** Time at which the options were last replaced. */
  readonly updatedAt: Date;
}

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

/** Returns the refusal for an id or name without a preset. */
export function presetNotFound(idOrName: string): MediaError {
  return new MediaError('not_found', `There is no preset \`${idOrName.slice(0, 63)}\` in this account.`);
}
