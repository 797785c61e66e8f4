import { audit } from '#api/dashboard/audit.ts';
import { accountRequest } from '#api/dashboard/account-request.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { confirmed, EMPTY_FORM, field, formProblem, postForm, submitted, type FormState } from '#api/dashboard/form.ts';
import { html } from '#api/dashboard/html.ts';
import { forMember, type AccountVisit, type PageReply, type Reply, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { counted, moment } from '#api/dashboard/text.ts';
import { createPreset } from '#api/presets/create-preset.ts';
import { deletePreset } from '#api/presets/delete-preset.ts';
import { selectPresets } from '#api/presets/preset-rows.ts';
import { isAtLeast } from '#api/users/user.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';

/** Presets: made, replaced, deleted. */
export const presetPageRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/presets', { needs: 'read_only' }, (deps, visit) =>
    presetPage(deps, visit, EMPTY_FORM),
  ),
  forMember('POST', '/accounts/:account/presets', { needs: 'developer' }, (deps, visit) =>
    submitted(visit, {
      work: () => save(deps, visit),
      page: (form) => presetPage(deps, visit, form),
      fields: ['name', 'options'],
      // A refusal names the option.
      names: {
        image: 'options',
        pdf: 'options',
        audio: 'options',
        video: 'options',
        convert: 'options',
        '': 'options',
      },
    }),
  ),
  forMember('POST', '/accounts/:account/presets/:id/delete', { needs: 'developer' }, remove),
];

async function presetPage(
  { database, docsUrl }: DashboardDeps,
  visit: AccountVisit,
  form: FormState,
): Promise<PageReply> {
  const presets = await selectPresets(database, visit.account.id);
  const path = `/accounts/${visit.account.id}/presets`;
  const mayChange = isAtLeast(visit.role, 'developer');
  const removal = ({ id, name }: (typeof presets)[number]) =>
    confirmed(visit, {
      summary: `Delete ${name} …`,
      action: `${path}/${id}/delete`,
      body: html`<p>Requests that name it are refused from then on. Jobs that are made keep their options.</p>`,
      button: 'Delete the preset',
      danger: true,
    });
  const body = html`${formProblem(form)}
  ${field(form, { name: 'name', label: 'Name', hint: 'Lower-case letters, digits, hyphens, underscores; up to 63. An existing one gets the new options.' })}
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
          ...(mayChange ? [removal(preset)] : []),
        ]),
        empty: 'No preset yet. A preset keeps options under a name, so that requests need not repeat them.',
      })}
      ${
        mayChange &&
        html`<section class="card">
          <h2>Save a preset</h2>
          ${postForm(visit, { action: path, body, button: 'Save the preset' })}
        </section>`
      }`,
  };
}

async function save(deps: DashboardDeps, visit: AccountVisit): Promise<Reply> {
  const name = visit.form.get('name') ?? '';
  const json = { name, options: parsed(visit.form.get('options') ?? '') };
  await createPreset(deps, accountRequest(visit, { livemode: true, json }));
  await audit(deps, visit, { action: 'preset.save', target: name, accountId: visit.account.id });
  return done(visit, `The preset “${name}” is saved.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new MediaError('bad_request', `This is not JSON: ${(error as Error).message}.`, { param: 'options' });
  }
}

async function remove(deps: DashboardDeps, visit: AccountVisit): Promise<Reply> {
  const id = visit.params['id'] ?? '';
  await deletePreset(deps, accountRequest(visit, { livemode: true, params: { id_or_name: id } }));
  await audit(deps, visit, { action: 'preset.delete', target: id, accountId: visit.account.id });
  return done(visit, 'The preset is deleted.');
}

function done({ account }: AccountVisit, text: string): Reply {
  return { kind: 'redirect', to: `/accounts/${account.id}/presets`, notice: { text } };
}
