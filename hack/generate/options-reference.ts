import { z } from 'zod';
import { optionsSchema, resolveOptions } from '#crds/catalogue/options/options.ts';

const INTRODUCTION = `# Options

Each option with its path, as in a query (\`image.quality=60\`) or nested in JSON (\`{"image": {"quality": 60}}\`). Options
for other kinds than the file's are checked and ignored. An unknown option, or a value that is not allowed, is refused
with 400 \`invalid_options\` and its path in \`param\`. \`null\` is not allowed: omit the option instead.

Video options work in jobs; the \`convert\` ones with the operation convert. There \`to\`, \`page\` and \`dpi\` are short for
\`convert.to\`, \`convert.page\` and \`convert.dpi\` in a query.
`;

const PAIRS = `## Combinations of options

Effect of one option on another, where both are given:

| options | what happens |
|---|---|
| \`image.resize\` false, and a mode or side in the same source | the image is resized: setting any of the three turns it on |
| \`image.resize\` false, and a mode or side of a weaker source (a preset below the query) | the dimensions are kept |
| \`image.resize.mode\` width with a height, height with a width | the other side is ignored |
| \`image.strip_metadata\` with PNG output | ignored |
| \`image.*\`, \`audio.*\`, \`video.*\`, \`pdf.*\` with convert | checked and ignored: convert has fixed settings |
| \`convert.*\` with compress and strip_metadata | checked and ignored; the short names are not options of compress |
| \`convert.page\`, \`convert.dpi\` with another input than PDF | checked and ignored |
| any option or preset with strip_metadata | checked and ignored |
| \`audio.bitrate_kbps\` and \`audio.quality\` | the bitrate wins |
| \`audio.bitrate_kbps\` or \`audio.quality\` with a lossless format | ignored |
| \`audio.sample_rate_hz\` that \`audio.format\` does not support | 400 \`invalid_options\`, whatever the kind of file; with the default format only for audio, by the engine |
| \`video.codec\` other than vp9 with \`video.format\` webm, or vp9 with mov | 400 \`invalid_options\`, whatever the kind of file and in a preset too |
`;

/** Returns docs/reference/options.md: a table per section, from the schemas that validate. */
export function optionsReference(): string {
  const sections = Object.entries(optionsSchema.shape).map(([name, field]) => section(name, field.unwrap()));
  return [INTRODUCTION, ...sections, PAIRS].join('\n');
}

function section(name: string, schema: z.ZodObject): string {
  const rows = leavesOf(schema, `${name}.`).map(
    ({ path, leaf }) => `| \`${path}\` | ${allowed(leaf)} | ${defaultOf(path)} | ${leaf.description ?? ''} |`,
  );
  return `## ${name}\n\n| option | values | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

interface Leaf {
  readonly path: string;
  readonly leaf: z.ZodType;
}

function leavesOf(schema: z.ZodObject, prefix: string): Leaf[] {
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, field]): Leaf[] => {
    const inner = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field;
    const path = `${prefix}${name}`;
    if (!(inner instanceof z.ZodUnion)) return [{ path, leaf: field }];
    const nested = inner.options.filter((option) => option instanceof z.ZodObject);
    return nested.length === 0
      ? [{ path, leaf: field }]
      : [{ path, leaf: field }, ...nested.flatMap((option) => leavesOf(option, `${path}.`))];
  });
}

function allowed(leaf: z.ZodType): string {
  const json = z.toJSONSchema(leaf, { io: 'input', unrepresentable: 'any' });
  return valuesOf(json) || '–';
}

function valuesOf(json: z.core.JSONSchema.BaseSchema): string {
  if (Array.isArray(json.enum)) return json.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (json.const !== undefined) return `\`${JSON.stringify(json.const)}\``;
  if (Array.isArray(json.anyOf))
    return json.anyOf
      .map((part) => valuesOf(part))
      .filter(Boolean)
      .join(', ');
  if (json.type === 'boolean') return '`true`, `false`';
  if (json.type === 'integer') {
    const isBounded = json.maximum !== undefined && json.maximum < Number.MAX_SAFE_INTEGER;
    return isBounded ? `${String(json.minimum)} to ${String(json.maximum)}` : `from ${String(json.minimum)}`;
  }
  if (json.type === 'string') return 'a format';
  return '';
}

/** Returns the default that the service resolves; one that depends on the input is explained in `meaning`. */
function defaultOf(path: string): string {
  const steps = path.split('.');
  let value: unknown = resolveOptions(new Map());
  for (const step of steps)
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined;
  if (value === null || value === undefined) return '–';
  return typeof value === 'object' ? '`true`' : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
}
