/** Forms: fields with their label, hint, what was typed and what is wrong with it, and answers to what was sent. */
import { flag, html, type Content, type Html } from '#api/dashboard/html.ts';
import { TOKEN_FIELD } from '#api/dashboard/form-token.ts';
import type { PageReply, Reply, Visit } from '#api/dashboard/route.ts';
import { MediaError } from '#crds/media-error.ts';

/** What a form shows: values by field, and problems by field; a problem under '' is about the whole. */
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
  /** Makes it a text area of so many lines. */
  readonly rows?: number;
  /** Makes it a choice: value and what is shown. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  readonly inputmode?: 'numeric' | 'decimal';
}

/** One labelled field with its hint and problem, both read out with it. */
export function field(form: FormState, asked: Field): Html {
  const { name, label, hint } = asked;
  const problem = form.problems[name];
  return html`<div class="field">
    <label for="f-${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="h-${name}">${hint}</p>`} ${control(form, asked)}
    ${problem !== undefined && html`<p class="problem" id="p-${name}">${problem}</p>`}
  </div>`;
}

interface Check {
  readonly name: string;
  readonly value: string;
  readonly label: Content;
}

export function checkbox(form: FormState, { name, value, label }: Check): Html {
  const isOn = form.values.getAll(name).includes(value);
  return html`<label class="check"
    ><input type="checkbox" name="${name}" value="${value}" ${flag('checked', isOn)} /> ${label}</label
  >`;
}

/** Problems that no field stands for. */
export function formProblem(form: FormState): Html | null {
  const problem = form.problems[''];
  return problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`;
}

interface PostForm {
  /** Below the dashboard. */
  readonly action: string;
  readonly body: Content;
  readonly button: string;
  readonly danger?: boolean;
}

/** A form that changes something. */
export function postForm({ formToken }: Pick<Visit, 'formToken'>, { action, body, button, danger }: PostForm): Html {
  return html`<form method="post" action="/dashboard${action}">
    <input type="hidden" name="${TOKEN_FIELD}" value="${formToken}" />
    ${body}
    <button class="${danger === true ? 'danger' : 'primary'}">${button}</button>
  </form>`;
}

interface Confirmed extends PostForm {
  /** What is pressed first; it says what the button does, of what. */
  readonly summary: string;
}

/** An action that asks first, also without scripts. */
export function confirmed(visit: Pick<Visit, 'formToken'>, { summary, ...form }: Confirmed): Html {
  return html`<details class="confirm">
    <summary>${summary}</summary>
    <div class="card">${postForm(visit, form)}</div>
  </details>`;
}

interface Submitted {
  readonly work: () => Promise<Reply>;
  /** The page with the form as it was sent. */
  readonly page: (form: FormState) => Promise<PageReply> | PageReply;
  /** Fields of the form; a refusal that names another one is about the whole. */
  readonly fields: readonly string[];
  /** The form's name for what the interface calls otherwise. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Does what a form asks for; a refusal shows the form again, with what was typed, the problem beside its field. */
export async function submitted(visit: Visit, { work, page, ...rest }: Submitted): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    const form = refusedForm(error, { values: visit.form, ...rest });
    return { ...(await page(form)), status: error.status ?? 400 };
  }
}

/** What was sent, with the refusal beside the field that it names. */
export function refusedForm(
  error: MediaError,
  { values, fields, names = {} }: Pick<Submitted, 'fields' | 'names'> & { readonly values: URLSearchParams },
): FormState {
  const param = error.param ?? '';
  const name = names[param] ?? names[param.split('.')[0] ?? ''] ?? param;
  return { values, problems: { [fields.includes(name) ? name : '']: error.message } };
}

function control(form: FormState, asked: Field): Html {
  const { rows, choices } = asked;
  const value = form.values.get(asked.name) ?? '';
  const common = commonAttributes(form, asked);
  if (choices !== undefined) {
    const option = ([key, label]: readonly [string, string]): Html =>
      html`<option value="${key}" ${flag('selected', key === value)}>${label}</option>`;
    return html`<select ${common}>
      ${choices.map((choice) => option(choice))}
    </select>`;
  }
  if (rows !== undefined) return html`<textarea ${common} rows="${rows}" spellcheck="false">${`\n${value}`}</textarea>`;
  const { type = 'text' } = asked;
  return html`<input ${common} type="${type}" ${type !== 'password' && html`value="${value}"`} />`;
}

function commonAttributes(form: FormState, { name, hint, required = true, ...asked }: Field): Html {
  const hasProblem = form.problems[name] !== undefined;
  const described = [hasProblem && `p-${name}`, hint !== undefined && `h-${name}`].filter((id) => id !== false);
  const optional = { autocomplete: asked.autocomplete, inputmode: asked.inputmode };
  const given = Object.entries(optional).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return html`id="f-${name}" name="${name}" ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}
  ${hasProblem && html`aria-invalid="true"`} ${flag('required', required)}
  ${given.map(([attribute, value]) => html` ${attribute}="${value}"`)}`;
}
