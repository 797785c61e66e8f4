import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmForm, EMPTY_FORM, field, formAction, postForm } from '#api/dashboard/form.ts';
import { html } from '#api/dashboard/html.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { checkJsonObject, parseFields } from '#api/fields/parse-fields.ts';
import { table } from '#api/dashboard/table.ts';
import { counted, moment } from '#api/dashboard/format-values.ts';
import { deletePreset } from '#api/presets/delete-preset.ts';
import { selectPresets } from '#api/presets/preset-rows.ts';
import { presetRequestSchema, savePreset } from '#api/presets/save-preset.ts';
import { isAtLeast } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

/** Page that lists, saves and deletes presets. */
export const presetPageRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/presets', { needs: 'read_only' }, presetPage),
  forMember(
    'POST',
    '/accounts/:account/presets',
    { needs: 'developer' },
    formAction({
      work: save,
      page: presetPage,
      fields: ['name', 'options'],
      // The `param` of a refusal is the path of an option.
      names: Object.fromEntries(['image', 'pdf', 'audio', 'video', 'convert', ''].map((group) => [group, 'options'])),
    }),
  ),
  forMember('POST', '/accounts/:account/presets/:id/delete', { needs: 'developer' }, remove),
];

async function presetPage(
  { database, docsUrl }: DashboardDeps,
  visit: AccountVisit,
  form = EMPTY_FORM,
): Promise<PageReply> {
  const presets = await selectPresets(database, visit.account.id);
  const path = `/accounts/${visit.account.id}/presets`;
  const mayChange = isAtLeast(visit.role, 'developer');
  const removalForm = ({ id, name }: (typeof presets)[number]) =>
    confirmForm(visit, {
      summary: `Delete ${name} …`,
      action: `${path}/${id}/delete`,
      body: html`<p>Requests that name it are refused from then on. Existing jobs keep their options.</p>`,
      button: 'Delete the preset',
    });
  const body = html`${field(form, { name: 'name', label: 'Name', hint: 'Lower-case letters, digits, hyphens, underscores; up to 63. The options of an existing preset are replaced.' })}
  ${field(form, { name: 'options', label: 'Options as JSON', hint: html`Such as <code>{"image": {"format": "webp"}}</code>; <a href="${docsUrl}/reference/options">all options</a>.`, rows: 6 })}`;
  return {
    kind: 'page',
    title: `Presets – ${visit.account.name}`,
    body: html`<h1>Presets</h1>
      <p>${counted(presets.length, 'preset')} of ${LIMITS.presets}. Live and test keys share them.</p>
      ${table({
        caption: 'Presets by name',
        columns: ['Name', 'Options', 'Changed', ...(mayChange ? ['Delete'] : [])],
        rows: presets.map((preset) => [
          html`<code>${preset.name}</code>`,
          html`<code>${JSON.stringify(preset.options)}</code>`,
          moment(preset.updatedAt),
          ...(mayChange ? [removalForm(preset)] : []),
        ]),
        empty: 'No preset yet. A preset stores options under a name, so that requests do not repeat them.',
      })}
      ${
        mayChange &&
        html`<section class="card">
          <h2>Save a preset</h2>
          ${postForm(visit, { action: path, form, body, button: 'Save the preset' })}
        </section>`
      }`,
  };
}

async function save(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const name = visit.form.get('name') ?? '';
  const object = checkJsonObject({ name, options: parseOptions(visit.form.get('options') ?? '') });
  await savePreset(deps, { caller: callerOf(visit), input: parseFields(presetRequestSchema, object) });
  return redirectTo(`/accounts/${visit.account.id}/presets`, `The preset “${name}” is saved.`);
}

function parseOptions(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new MediaError('bad_request', `This is not JSON: ${(error as Error).message}.`, { param: 'options' });
  }
}

async function remove(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  await deletePreset(deps, { caller: callerOf(visit), input: { idOrName: visit.params['id'] ?? '' } });
  return redirectTo(`/accounts/${visit.account.id}/presets`, 'The preset is deleted.');
}
