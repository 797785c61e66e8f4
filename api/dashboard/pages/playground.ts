import { appliedOptions } from '#api/dashboard/applied-options.ts';
import { codeBlock } from '#api/dashboard/code-block.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { details } from '#api/dashboard/details.ts';
import { findJobOfPage } from '#api/dashboard/find-job-of-page.ts';
import { field, formProblem, refusedForm, type FormState } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { icon } from '#api/dashboard/icons.ts';
import { nestedOptions, optionFields, optionsOfFields, type OptionGroup } from '#api/dashboard/option-fields.ts';
import { requestExamples } from '#api/dashboard/request-examples.ts';
import { forMember, type AccountVisit, type PageReply, type Route } from '#api/dashboard/route.ts';
import { sampleOf } from '#api/dashboard/job-preview.ts';
import { OPERATIONS, FORMATS, formatOfName, type Operation } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Page that shows the request for chosen options, and sends it with a file. */
export const playgroundRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/playground', { needs: 'read_only' }, playground),
];

const GROUPS: Readonly<Record<Operation, readonly OptionGroup[]>> = {
  compress: ['image', 'pdf', 'audio', 'video'],
  convert: ['convert'],
  strip_metadata: [],
};
const MAX_NAME = 255;

async function playground(deps: DashboardDeps, visit: AccountVisit): Promise<PageReply> {
  const values = visit.query.has('job') ? await valuesOfJob(deps, visit) : visit.query;
  const operation = OPERATIONS.find((one) => one === values.get('operation')) ?? 'compress';
  const filename = (values.get('filename') ?? '').slice(0, MAX_NAME).trim();
  const { form, code } = examples(deps, { values, operation, filename: filename === '' ? 'photo.jpg' : filename });
  const format = formatOfName(filename === '' ? 'photo.jpg' : filename);
  const path = `/dashboard/accounts/${visit.account.id}/playground`;
  const callsApi = new URL(deps.baseUrl).origin === new URL(deps.dashboardUrl).origin;
  return {
    kind: 'page',
    status: code === null ? 400 : 200,
    title: `Playground – ${visit.account.name}`,
    script: 'playground.js',
    body: html`<h1>Playground</h1>
      <nav class="tabs" aria-label="Operation">
        ${OPERATIONS.map((one) => operationTab(path, { one, isCurrent: one === operation, filename }))}
      </nav>
      <div class="panels" data-playground="${new URL(deps.baseUrl).origin}">
        <div>
          ${callsApi && fileSection(deps)}
          <form method="get" class="card" id="options">
            <h2>Options</h2>
            ${formProblem(form)}
            <input type="hidden" name="operation" value="${operation}" />
            ${field(form, { name: 'filename', label: 'File name', hint: 'Its extension decides which options and which request are shown.', required: false })}
            ${GROUPS[operation].map((group) => optionFields(form, group, group === 'convert' || (format !== null && FORMATS[format].kind === group)))}
            <button>Show the request</button>
          </form>
        </div>
        <div>
          <section class="card" id="request">
            <h2>Request</h2>
            ${code}
          </section>
          ${callsApi ? resultSection() : html`<p class="hint">The dashboard has a host of its own, from which browsers cannot call the API.</p>`}
        </div>
      </div>`,
  };
}

interface Tab {
  readonly one: Operation;
  readonly isCurrent: boolean;
  readonly filename: string;
}

function operationTab(path: string, { one, isCurrent, filename }: Tab): Html {
  const query = new URLSearchParams({ operation: one, ...(filename !== '' && { filename }) }).toString();
  return html`<a href="${path}?${query}" ${isCurrent && html`aria-current="true"`}>${one.replace('_', ' ')}</a>`;
}

/** Returns the fields for a job that is run again: its operation, file name and options. */
async function valuesOfJob(deps: DashboardDeps, visit: AccountVisit): Promise<URLSearchParams> {
  const job = await findJobOfPage(deps, { ...visit, params: { id: visit.query.get('job') ?? '' } });
  const values = new URLSearchParams({ operation: job.operation });
  const filename = sampleOf(deps.samples, job)?.name ?? job.inputFilename;
  if (filename !== null) values.set('filename', filename);
  setValues(values, appliedOptions(job), '');
  return values;
}

function setValues(values: URLSearchParams, options: object, prefix: string): void {
  for (const [name, value] of Object.entries(options) as [string, string | number | boolean | object | null][]) {
    const path = `${prefix}${name}`;
    if (value === null) setMissing(values, path);
    else if (typeof value === 'object') setValues(values, value, `${path}.`);
    else values.set(path, String(value));
  }
}

/** Sets the two options whose resolved form is null although they have a value. */
function setMissing(values: URLSearchParams, path: string): void {
  if (path === 'image.resize') values.set(path, 'false');
  if (path === 'video.resolution') values.set(path, 'original');
}

interface ExampleInput {
  readonly values: URLSearchParams;
  readonly operation: Operation;
  readonly filename: string;
}

/** Returns the form and the requests; the problem of an option in place of them. */
function examples(
  { baseUrl }: DashboardDeps,
  { values, operation, filename }: ExampleInput,
): { form: FormState; code: Html | null } {
  try {
    const chosen = [...optionsOfFields(values)].filter(([path]) =>
      GROUPS[operation].some((group) => path.startsWith(`${group}.`)),
    );
    const options = new Map(chosen);
    const all = requestExamples({ baseUrl, operation, filename, options, nested: nestedOptions(options) });
    const code = html`${all.map(({ language, code: text }, index) =>
      details({
        summary: language,
        group: 'language',
        isOpen: index === 0,
        body: codeBlock({ id: `code-${index}`, code: text, label: 'The API key is in the variable key.' }),
      }),
    )}`;
    return { form: { values, problems: {} }, code };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { form: refusedForm(error, { values, fields: [...values.keys()] }), code: null };
  }
}

/** Returns the fields of what is sent. The key is sent to the API only, and kept nowhere. */
function fileSection({ samples, hidesPrices }: DashboardDeps): Html {
  const good = samples.all.filter(({ expected_error: code }) => code === null);
  return html`<section class="card" data-send>
    <h2>File</h2>
    <div class="field">
      <label for="play-sample">Sample</label>
      <select id="play-sample">
        <option value="">your own file</option>
        ${good.map(({ name }) => html`<option>${name}</option>`)}
      </select>
    </div>
    <label class="drop">${icon('upload')} Drop a file here, or choose one <input type="file" id="play-file" /></label>
    <div class="field">
      <label for="play-key">Key</label>
      <p class="hint" id="play-key-hint">
        A test key processes samples, a live key your own files${!hidesPrices && ' at their price'}. This page does not
        store it.
      </p>
      <input id="play-key" type="password" autocomplete="off" spellcheck="false" aria-describedby="play-key-hint" />
    </div>
  </section>`;
}

function resultSection(): Html {
  return html`<section class="card" data-send>
      <h2>Result</h2>
      <p><button type="button" class="primary" data-run>${icon('send')} Send the file</button></p>
      <div id="play-result" role="status"></div>
    </section>
    <noscript><p class="hint">Sending a file here needs JavaScript. The request above does not.</p></noscript>`;
}
