import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { recordAudit } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { presetNotFound } from '#api/presets/preset.ts';
import { deletePresetRow } from '#api/presets/preset-rows.ts';

/**
 * Deletes a preset: later requests that name it are refused; existing jobs keep their options. Returns its id.
 * @throws MediaError not_found
 */
export async function deletePreset(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { idOrName } }: { caller: AccountCaller; input: { readonly idOrName: string } },
): Promise<{ id: string }> {
  const accountId = caller.account.id;
  return database.transaction(async (tx) => {
    const id = await deletePresetRow(tx, { accountId, idOrName });
    if (id === null) throw presetNotFound(idOrName);
    await recordAudit(tx, caller.actor, { at: clock.now(), action: 'preset.delete', target: idOrName, accountId });
    return { id };
  });
}
