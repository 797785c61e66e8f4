/** SQL of presets. */
import type { Preset } from '#api/presets/preset.ts';
import type { Queryable } from '#api/store/database.ts';

const COLUMNS = 'id, name, options, created_at as "createdAt", updated_at as "updatedAt"';

interface NamedOptions {
  readonly accountId: string;
  readonly name: string;
  readonly options: object;
  readonly at: Date;
}

/** Replaces the options of the preset of that name; returns null when the account has none. */
export async function replacePresetOptions(
  tx: Queryable,
  { accountId, name, options, at }: NamedOptions,
): Promise<Preset | null> {
  return tx.findRow<Preset>(
    `update presets set options = $3, updated_at = $4 where account_id = $1 and name = $2 returning ${COLUMNS}`,
    [accountId, name, JSON.stringify(options), at],
  );
}

/** Inserts the preset; returns null when the account has `most` already. Call it under the account's lock. */
export async function insertPreset(
  tx: Queryable,
  preset: NamedOptions & { id: string },
  most: number,
): Promise<Preset | null> {
  const { id, accountId, name, options, at } = preset;
  return tx.findRow<Preset>(
    `insert into presets (id, account_id, name, options, created_at, updated_at)
     select $1, $2, $3, $4, $5, $5 where (select count(*) from presets where account_id = $2) < $6
     returning ${COLUMNS}`,
    [id, accountId, name, JSON.stringify(options), at, most],
  );
}

/** Returns the account's presets by name, in code point order. */
export async function selectPresets(db: Queryable, accountId: string): Promise<readonly Preset[]> {
  return db.selectRows<Preset>(`select ${COLUMNS} from presets where account_id = $1 order by name`, [accountId]);
}

interface PresetReference {
  readonly accountId: string;
  /** Id or name; an id takes precedence over an equal name. */
  readonly idOrName: string;
}

/** Returns the preset with an id or name; null when there is none. */
export async function findPreset(db: Queryable, { accountId, idOrName }: PresetReference): Promise<Preset | null> {
  return db.findRow<Preset>(
    `select ${COLUMNS} from presets where account_id = $1 and (id = $2 or name = $2) order by id = $2 desc limit 1`,
    [accountId, idOrName],
  );
}

/** Deletes the preset; returns its id, or null when there is none. */
export async function deletePresetRow(db: Queryable, { accountId, idOrName }: PresetReference): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `delete from presets where id = (
       select id from presets where account_id = $1 and (id = $2 or name = $2) order by id = $2 desc limit 1
     ) returning id`,
    [accountId, idOrName],
  );
  return rows[0]?.id ?? null;
}
