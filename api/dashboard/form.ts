/** Forms: fields with label, hint, value and problem, and the handling of posted forms. */
import { flag, html, verbatim, type Content, type Html } from '#api/dashboard/html.ts';
import { TOKEN_FIELD } from '#api/dashboard/form-token.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { PageReply, RouteReply, Visit } from '#api/dashboard/route.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Values and problems of a form by field; the problem of '' concerns the whole form. */
export interface FormState {
  readonly values: URLSearchParams;
  readonly problems: Readonly<Record<string, string>>;
}

export const EMPTY_FORM: FormState = { values: new URLSearchParams(), problems: {} };

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: Content;
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'date' | 'search';
  readonly autocomplete?: string;
  readonly required?: boolean;
  /** Number of lines of a text area; absent for other controls. */
  readonly rows?: number;
  /** Options of a select; absent for other controls. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  readonly inputmode?: 'numeric' | 'decimal';
}

/** Returns a labelled field. Screen readers announce its hint and its problem with it. */
export function field(form: FormState, definition: Field): Html {
  const { name, label, hint } = definition;
  const problem = form.problems[name];
  return html`<div class="field">
    <label for="f-${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="h-${name}">${hint}</p>`} ${control(form, definition)}
    ${problem !== undefined && html`<p class="problem" id="p-${name}">${problem}</p>`}
  </div>`;
}

interface CheckboxField {
  readonly name: string;
  readonly value: string;
  readonly label: Content;
}

export function checkbox(form: FormState, { name, value, label }: CheckboxField): Html {
  const isOn = form.values.getAll(name).includes(value);
  return html`<label class="check"
    ><input type="checkbox" name="${name}" value="${value}" ${flag('checked', isOn)} /> ${label}</label
  >`;
}

/** Returns the problem of the whole form; null without one. */
export function formProblem(form: FormState): Html | null {
  const problem = form.problems[''];
  return problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`;
}

interface PostForm {
  /** Path below the dashboard. */
  readonly action: string;
  /** State whose problem is shown above the body. */
  readonly form?: FormState;
  readonly body?: Content;
  readonly button: string;
}

/** Returns a form with its token that sends a POST. */
export function postForm(visit: Pick<Visit, 'formToken'>, definition: PostForm): Html {
  const { action, form = EMPTY_FORM, body = null, button } = definition;
  return html`<form method="post" action="/dashboard${action}">
    <input type="hidden" name="${TOKEN_FIELD}" value="${visit.formToken}" />
    ${formProblem(form)} ${body}
    <button class="primary">${button}</button>
  </form>`;
}

interface ConfirmedForm extends PostForm {
  /** Text that opens the form; names the action and its object. */
  readonly summary: string;
}

/**
 * Returns a button that opens a dialog with a form, and the dialog. Both work without scripts; Escape and a click beside
 * the dialog close it.
 */
export function confirmForm(
  visit: Pick<Visit, 'formToken'>,
  { summary, action, form = EMPTY_FORM, body = null, button }: ConfirmedForm,
): Html {
  const id = `d-${action.replaceAll(/[^\w-]/g, '-')}`;
  return html`<button type="button" popovertarget="${id}">${summary}</button>
    <div popover class="dialog" id="${id}" role="dialog" aria-label="${summary.replace(' …', '')}">
      <h2>${summary.replace(/ …$/, '?')}</h2>
      <form method="post" action="/dashboard${action}">
        <input type="hidden" name="${TOKEN_FIELD}" value="${visit.formToken}" />
        ${formProblem(form)} ${body}
        <p class="actions">
          <button type="button" popovertarget="${id}" popovertargetaction="hide">Close</button>
          <button class="danger">${button}</button>
        </p>
      </form>
    </div>`;
}

interface FormHandling<V> {
  /** Performs the action of the form. */
  readonly work: (deps: DashboardDeps, visit: V) => Promise<RouteReply>;
  /** Returns the page with the form as sent and its problems. */
  readonly page: (deps: DashboardDeps, visit: V, form: FormState) => Promise<PageReply> | PageReply;
  /** Names of the fields; a refusal with another `param` concerns the whole form. */
  readonly fields: readonly string[];
  /** Names of fields by the `param` of refusals, where they differ. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Returns the handler of a form. A refusal returns its page with the values as sent and the problem at its field. */
export function formAction<V extends Visit>({ work, page, ...rest }: FormHandling<V>) {
  return async (deps: DashboardDeps, visit: V): Promise<RouteReply> => {
    try {
      return await work(deps, visit);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      const form = refusedForm(error, { values: visit.form, ...rest });
      return { ...(await page(deps, visit, form)), status: error.status ?? 400 };
    }
  };
}

/** Returns the form as sent, with the message of the refusal as problem of the field that it names. */
export function refusedForm(
  error: MediaError,
  { values, fields, names = {} }: Pick<FormHandling<Visit>, 'fields' | 'names'> & { readonly values: URLSearchParams },
): FormState {
  const param = error.param ?? '';
  const name = names[param] ?? names[param.split('.')[0] ?? ''] ?? param;
  return { values, problems: { [fields.includes(name) ? name : '']: error.message } };
}

function control(form: FormState, definition: Field): Html {
  const { rows, choices } = definition;
  const value = form.values.get(definition.name) ?? '';
  const common = commonAttributes(form, definition);
  if (choices !== undefined) {
    const option = ([key, label]: readonly [string, string]): Html =>
      html`<option value="${key}" ${flag('selected', key === value)}>${label}</option>`;
    return html`<select ${common}>
      ${choices.map((choice) => option(choice))}
    </select>`;
  }
  if (rows !== undefined)
    return html`<textarea ${common} rows="${rows}" spellcheck="false">${verbatim(`\n${value}`)}</textarea>`;
  const { type = 'text' } = definition;
  return html`<input ${common} type="${type}" ${type !== 'password' && html`value="${verbatim(value)}"`} />`;
}

function commonAttributes(form: FormState, { name, hint, required = true, ...definition }: Field): Html {
  const hasProblem = form.problems[name] !== undefined;
  const described = [hasProblem && `p-${name}`, hint !== undefined && `h-${name}`].filter((id) => id !== false);
  const optional = { autocomplete: definition.autocomplete, inputmode: definition.inputmode };
  const given = Object.entries(optional).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return html`id="f-${name}" name="${name}" ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}
  ${hasProblem && html`aria-invalid="true"`} ${flag('required', required)}
  ${given.map(([attribute, value]) => html` ${attribute}="${value}"`)}`;
}
