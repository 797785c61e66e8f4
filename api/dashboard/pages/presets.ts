import { callerOf } from '#api/dashboard/caller-of.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmForm, EMPTY_FORM, field, formAction, postForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { nestedOptions, optionFields, optionsOfFields, type OptionGroup } from '#api/dashboard/option-fields.ts';
import { redirectTo } from '#api/dashboard/redirect-to.ts';
import { forMember, type AccountVisit, type PageReply, type Route, type RouteReply } from '#api/dashboard/route.ts';
import { checkJsonObject, parseFields } from '#api/fields/parse-fields.ts';
import { table } from '#api/dashboard/table.ts';
import { ago, counted } from '#api/dashboard/format-values.ts';
import { deletePreset } from '#api/presets/delete-preset.ts';
import type { Preset } from '#api/presets/preset.ts';
import { selectPresets } from '#api/presets/preset-rows.ts';
import { presetRequestSchema, savePreset } from '#api/presets/save-preset.ts';
import { isAtLeast } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { mergeOptions, parseJsonOptions } from '#crds/catalogue/options/options.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

const GROUPS: readonly OptionGroup[] = ['image', 'pdf', 'audio', 'video', 'convert'];

/** Page that lists, saves, changes and deletes presets. */
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
      names: Object.fromEntries([...GROUPS, ''].map((group) => [group, 'options'])),
    }),
  ),
  forMember('POST', '/accounts/:account/presets/:id/delete', { needs: 'developer' }, remove),
];

async function presetPage(deps: DashboardDeps, visit: AccountVisit, sent?: FormState): Promise<PageReply> {
  const presets = await selectPresets(deps.database, visit.account.id);
  const path = `/accounts/${visit.account.id}/presets`;
  const edited = presets.find(({ id }) => id === visit.query.get('edit'));
  const form = sent ?? (edited === undefined ? EMPTY_FORM : { values: valuesOf(edited), problems: {} });
  const mayChange = isAtLeast(visit.role, 'developer');
  return {
    kind: 'page',
    title: `Presets – ${visit.account.name}`,
    body: html`<h1>Presets</h1>
      <p>${counted(presets.length, 'preset')} of ${LIMITS.presets}. Live and test keys share them.</p>
      ${table({
        caption: 'Presets by name',
        columns: ['Name', 'Options', 'Changed', ...(mayChange ? ['Change'] : [])],
        rows: presets.map((preset) => [
          html`<code class="break">${preset.name}</code>`,
          html`<code class="break">${JSON.stringify(preset.options)}</code>`,
          ago(preset.updatedAt),
          ...(mayChange ? [changeButtons(visit, path, preset)] : []),
        ]),
        empty: 'No preset yet. A preset stores options under a name, so that requests do not repeat them.',
      })}
      ${
        mayChange &&
        html`<section class="card" id="form">
          <h2>${edited === undefined ? 'Save a preset' : `Change ${edited.name}`}</h2>
          ${postForm(visit, { action: path, form, body: formBody(deps, form), button: 'Save the preset' })}
        </section>`
      }`,
  };
}

function changeButtons(visit: AccountVisit, path: string, { id, name }: Preset): Html {
  return html`<div class="buttons">
    <a class="button" href="/dashboard${path}?edit=${id}#form">Edit</a>
    ${confirmForm(visit, {
      summary: `Delete ${name} …`,
      action: `${path}/${id}/delete`,
      body: html`<p>Requests that name it are refused from then on. Existing jobs keep their options.</p>`,
      button: 'Delete the preset',
    })}
  </div>`;
}

/** Returns the JSON of the options and fields for them. The script keeps both equal; without it a field wins. */
function formBody({ docsUrl }: DashboardDeps, form: FormState): Html {
  return html`${field(form, { name: 'name', label: 'Name', hint: 'Lower-case letters, digits, hyphens, underscores; up to 63. The options of an existing preset are replaced.' })}
    <div class="panels">
      <div data-options="f-options">${GROUPS.map((group) => optionFields(form, group, group === 'image'))}</div>
      <div>
        ${field(form, { name: 'options', label: 'Options as JSON', hint: html`Such as <code>{"image": {"format": "webp"}}</code>; <a href="${docsUrl}/reference/options">all options</a>.`, rows: 14, required: false })}
      </div>
    </div>`;
}

function valuesOf({ name, options }: Preset): URLSearchParams {
  const values = new URLSearchParams({ name, options: JSON.stringify(options, null, 2) });
  for (const [path, value] of parseJsonOptions(options)) values.set(path, String(value));
  return values;
}

async function save(deps: DashboardDeps, visit: AccountVisit): Promise<RouteReply> {
  const name = visit.form.get('name') ?? '';
  const fromJson = parseJsonOptions(parseOptions(visit.form.get('options') ?? ''));
  const options = nestedOptions(mergeOptions(fromJson, optionsOfFields(visit.form)));
  const object = checkJsonObject({ name, options });
  await savePreset(deps, { caller: callerOf(visit), input: parseFields(presetRequestSchema, object) });
  return redirectTo(`/accounts/${visit.account.id}/presets`, `The preset “${name}” is saved.`);
}

function parseOptions(text: string): unknown {
  if (text.trim() === '') return {};
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
