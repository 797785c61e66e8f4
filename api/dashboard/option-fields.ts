/** Fields for options, made from the schema of the interface: each has the dotted path of its option as name. */
import { z } from 'zod';
import { details } from '#api/dashboard/details.ts';
import { field, type FormState } from '#api/dashboard/form.ts';
import { html, type Html } from '#api/dashboard/html.ts';
import { prose } from '#api/dashboard/format-values.ts';
import { CONVERT_TARGETS, type Format } from '#crds/catalogue/formats.ts';
import { optionsSchema, parseQueryOptions, type FlatOptions } from '#crds/catalogue/options/options.ts';

/** Part of a JSON schema that a field needs. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly (string | number)[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface OptionField {
  /** Dotted path, such as `image.resize.mode`. */
  readonly path: string;
  readonly hint: string;
  /** null: any number. */
  readonly choices: readonly string[] | null;
}

export type OptionGroup = keyof typeof optionsSchema.shape;

const SCHEMA = z.toJSONSchema(optionsSchema, { io: 'input' }) as Schema;
const FIELDS: readonly OptionField[] = fieldsOf(SCHEMA, '', '');
/** Targets of every kind. */
const TARGETS: readonly Format[] = [...new Set(Object.values(CONVERT_TARGETS).flat())];

/** Returns the fields of a group of options, which open as one. */
export function optionFields(form: FormState, group: OptionGroup, isOpen: boolean): Html {
  const fields = FIELDS.filter(({ path }) => path.startsWith(`${group}.`));
  const hasValue = fields.some(({ path }) => (form.values.get(path) ?? '') !== '');
  return details({
    summary: `Options for ${group}`,
    isOpen: isOpen || hasValue,
    body: html`<div class="options">${fields.map((one) => optionField(form, one))}</div>`,
  });
}

function optionField(form: FormState, { path, hint, choices }: OptionField): Html {
  const values = path === 'convert.to' ? TARGETS : choices;
  return field(form, {
    name: path,
    label: path,
    hint: html`${prose(hint)}`,
    required: false,
    ...(values === null
      ? { inputmode: 'numeric' as const }
      : { choices: [['', 'default'] as const, ...values.map((value) => [value, value] as const)] }),
  });
}

/** Returns the options that the fields of a form set. @throws MediaError invalid_options */
export function optionsOfFields(values: URLSearchParams): FlatOptions {
  const set = FIELDS.flatMap(({ path }): [string, string][] => {
    const value = (values.get(path) ?? '').trim();
    return value === '' ? [] : [[path, value]];
  });
  return parseQueryOptions(new Map(set));
}

/** Returns options in the nested form of JSON bodies. A box of `image.resize` replaces `true`. */
export function nestedOptions(flat: FlatOptions): Record<string, unknown> {
  const nested: Record<string, unknown> = {};
  for (const [path, value] of flat) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let group = nested;
    for (const name of names) {
      if (typeof group[name] !== 'object') group[name] = {};
      group = group[name] as Record<string, unknown>;
    }
    if (typeof group[last] !== 'object') group[last] = value;
  }
  return nested;
}

function fieldsOf(schema: Schema, path: string, inherited: string): readonly OptionField[] {
  const { description: hint = inherited, properties, anyOf, type } = schema;
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, child]) =>
      fieldsOf(child, path === '' ? name : `${path}.${name}`, hint),
    );
  if (anyOf !== undefined) return anyOf.flatMap((one) => fieldsOf(one, path, hint));
  const choices = type === 'boolean' ? ['true', 'false'] : (schema.enum?.map(String) ?? null);
  return [{ path, hint, choices }];
}
