import { z } from 'zod';
import { anchorOf } from '#api/docs/anchor-of.ts';
import { endpointCode } from './endpoint-code.ts';
import { EXAMPLES } from './endpoint-examples.ts';
import { fieldRows, meaningOf, resolve, schema, table, valuesOf, type Schemas } from './field-table.ts';

const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean(),
  description: z.string(),
  schema,
});
const content = z.record(z.string(), z.object({ schema }));
const operation = z.object({
  summary: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: content.optional() })),
});
type Operation = z.infer<typeof operation>;
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema) }),
});
interface Section {
  /** Page below `docs/reference/endpoints`, without extension. */
  readonly file: string;
  readonly title: string;
  /** Page below `docs/reference` that explains it, with its title. */
  readonly guide: readonly [file: string, title: string];
}

const DIRECT: Section = { file: 'direct', title: 'Direct endpoints', guide: ['direct.md', 'Direct requests'] };
const UPLOADS: Section = { file: 'uploads', title: 'Upload endpoints', guide: ['uploads.md', 'Uploads'] };
const JOBS: Section = { file: 'jobs', title: 'Job endpoints', guide: ['jobs.md', 'Jobs'] };
const WEBHOOKS: Section = { file: 'webhooks', title: 'Webhook endpoints', guide: ['webhooks.md', 'Webhooks'] };
const PRESETS: Section = { file: 'presets', title: 'Preset endpoints', guide: ['presets.md', 'Presets'] };
const BILLING: Section = {
  file: 'billing',
  title: 'Estimate and usage endpoints',
  guide: ['estimate-and-usage.md', 'Estimate and usage'],
};
const SERVICE: Section = { file: 'service', title: 'Service endpoints', guide: ['basics.md', 'Basics'] };

/** Sections by the first segment of the path, in the order of the pages. */
const SECTIONS: Readonly<Record<string, Section>> = {
  compress: DIRECT,
  convert: DIRECT,
  'strip-metadata': DIRECT,
  uploads: UPLOADS,
  jobs: JOBS,
  webhook_endpoints: WEBHOOKS,
  presets: PRESETS,
  estimate: BILLING,
  usage: BILLING,
  receipt_keys: SERVICE,
  capabilities: SERVICE,
  'openapi.json': SERVICE,
};

const INTRODUCTION = `# Endpoints

All endpoints of the version, made from [openapi.json](../openapi.json), the input of client generators. Every response
has \`Svc-Request-Id\` and \`Svc-Version\`; every error is an [error object](errors.md).

The examples read \`url\`, \`key\` and the ids of objects, such as \`job\`, from the environment, as \`export job=job_…\` sets
them. Each object is in a state that its example needs: parts are sent to an upload of more than 95 MB that is not complete, as in
[Large files](../guides/large-files.md), and a receipt is that of an ended job. The files are the [samples](../index.md) of the
first job, and \`part\` is the first part of a large file. TypeScript needs Node 24, Python its package \`requests\`.
`;

interface EndpointPages {
  /** docs/reference/endpoints.md. */
  readonly index: string;
  /** Pages below docs/reference/endpoints by their names. */
  readonly pages: Readonly<Record<string, string>>;
}

interface Input {
  /** The OpenAPI document of the service. */
  readonly openApi: object;
  /** Examples of JSON responses by the name of their schema, in the order of their use. */
  readonly responses: ReadonlyMap<string, readonly string[]>;
}

/** Returns the pages of the endpoint reference. */
export function endpointReference({ openApi, responses }: Input): EndpointPages {
  const { paths, components } = documentSchema.parse(openApi);
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, found]): Row => ({ path, method: method.toUpperCase(), found })),
  );
  const bySection = [...new Set(Object.values(SECTIONS))].map((section): [Section, Row[]] => [
    section,
    // Those that delete last: the examples before them need the object.
    rows.filter(({ path }) => sectionOf(path) === section).toSorted((a, b) => isDelete(a) - isDelete(b)),
  ]);
  const pages = bySection.map(([section, own]): [string, string] => [
    `${section.file}.md`,
    sectionPage(section, own, { schemas: components.schemas, examples: unusedExamples(responses) }),
  ]);
  const lists = bySection.map(([section, own]) => sectionList(section, own));
  return { index: [INTRODUCTION, ...lists].join('\n'), pages: Object.fromEntries(pages) };
}

function isDelete({ method }: Row): number {
  return Number(method === 'DELETE');
}

interface Row {
  readonly path: string;
  readonly method: string;
  readonly found: Operation;
}

interface Page {
  readonly schemas: Schemas;
  /** Returns an example that the page does not have yet. */
  readonly examples: (schema: string) => string | undefined;
}

function unusedExamples(responses: Input['responses']): Page['examples'] {
  const left = new Map([...responses].map(([schema, examples]) => [schema, [...examples]]));
  return (schema) => left.get(schema)?.shift();
}

function sectionOf(path: string): Section {
  const section = SECTIONS[path.split('/')[2] ?? ''];
  if (section === undefined) throw new Error(`${path} has no section: add one to SECTIONS`);
  return section;
}

function sectionList({ file, title }: Section, rows: readonly Row[]): string {
  const lines = rows.map(({ method, path, found }) => {
    const heading = `${method} ${path}`;
    return `| [\`${heading}\`](endpoints/${file}.md#${anchorOf(heading)}) | ${found.summary} |`;
  });
  return `## ${title}\n\n| endpoint | |\n|---|---|\n${lines.join('\n')}\n`;
}

function sectionPage({ title, guide: [file, name] }: Section, rows: readonly Row[], page: Page): string {
  const parts = rows.map((row) => endpointPart(row, page));
  return `# ${title}\n\n[${name}](../${file}) explains them; [Endpoints](../endpoints.md) says how the examples are run.\n\n${parts.join('\n')}`;
}

function endpointPart({ method, path, found }: Row, { schemas, examples }: Page): string {
  const { summary, parameters, requestBody, responses, security = [] } = found;
  // Options have a page of their own, headers of all endpoints are in the introduction.
  const own = parameters.filter(
    ({ name, in: place }) => !name.includes('.') && !(place === 'header' && name === 'Svc-Version'),
  );
  const hasOptions = parameters.some(({ name }) => name.includes('.'));
  const needsKey = security.length > 0;
  const example = EXAMPLES[`${method} ${path}`];
  if (example === undefined) throw new Error(`${method} ${path} has no example: add one to EXAMPLES`);
  const lines = [
    `## ${method} ${path}`,
    `${summary}${needsKey ? '' : ' Needs no key.'}`,
    endpointCode({ path, ...example, method, needsKey }),
  ];
  if (own.length > 0)
    lines.push(
      table(
        'parameter',
        own.map((one) => parameterRow(one, schemas)),
      ),
    );
  if (hasOptions) lines.push('Also all [options](../options.md) that apply, by their paths.');
  if (requestBody !== undefined) lines.push(bodyPart(requestBody.content, schemas));
  lines.push(...responseParts(responses, examples));
  return `${lines.join('\n\n')}\n`;
}

function parameterRow(
  { name, in: place, required, description, schema: values }: z.infer<typeof parameter>,
  schemas: Schemas,
): string {
  const where = place === 'query' && !required ? '' : ` (${place}${required ? ', required' : ''})`;
  return `| \`${name}\`${where} | ${valuesOf(values, schemas)} | ${meaningOf(name, description || values.description)} |`;
}

/** Returns the table of a JSON body's fields; the media types of a body of bytes. */
function bodyPart(body: z.infer<typeof content>, schemas: Schemas): string {
  const json = body['application/json'];
  if (json === undefined)
    return `Body: the bytes of the file, as ${Object.keys(body)
      .map((type) => `\`${type}\``)
      .join(' or ')}.`;
  const { properties = {}, required = [] } = resolve(json.schema, schemas);
  const rows = fieldRows({ properties, required }, schemas);
  return rows.length === 0 ? 'Body: a JSON object.' : table('field of the body', rows);
}

/** Returns the responses with an example, unless the page has all examples of its schema, and the refusals. */
function responseParts(responses: Operation['responses'], examples: Page['examples']): string[] {
  const good = Object.entries(responses).filter(([status]) => status < '400');
  const lines = good.map(([status, { description }]) => `- **${status}**: ${description}`);
  const refusals = Object.entries(responses).flatMap(([status, { description }]) => {
    const codes = [...description.matchAll(/^`(\w+)`:/gm)].map(
      ([, code = '']) => `[\`${code}\`](../errors.md#${code})`,
    );
    return codes.length === 0 ? [] : [`${status} ${codes.join(', ')}`];
  });
  const name = good[0]?.[1].content?.['application/json']?.schema.$ref?.split('/').at(-1);
  const example = name === undefined ? undefined : examples(name);
  return [
    lines.join('\n'),
    ...(example === undefined ? [] : [`\`\`\`json ${name}\n${example}\`\`\``]),
    ...(refusals.length === 0 ? [] : [`Errors: ${refusals.join('; ')}`]),
  ];
}
