/** Runs the examples of the endpoint reference, each in three languages, in the order of its pages. */
import { copyFileSync, existsSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandFor, examplesIn, freshFolder, paste, ROOT, textOf, trust } from '#test/support/documented-examples.ts';
import { finished, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const { service, live, api } = await useService('growth');
const TABLE = Buffer.from('name,city\nAda,London\n');
/** The smallest size that is uploaded in parts. */
const SIZE_IN_PARTS = 99_614_721;
const created = async (path: string, json: object): Promise<Record<string, any>> =>
  (await api('POST', path, { json })).json();

/** Returns the ids that the examples read from the environment, and fills the file `part`. What is deleted serves no other example. */
async function makeObjects(folder: string): Promise<(heading: string) => Readonly<Record<string, string>>> {
  const job = async (): Promise<string> => {
    const input = { upload: await upload(api, TABLE, 'people.csv') };
    const { id } = await created('/v1/jobs', { operation: 'convert', input, options: { convert: { to: 'json' } } });
    return String((await finished(api, String(id)))['id']);
  };
  const endpoint = async (): Promise<string> =>
    String((await created('/v1/webhook_endpoints', { url: 'https://hooks.example.com/media' }))['id']);
  const whole = await created('/v1/uploads', { size: 27_722, filename: 'people.csv' });
  const inParts = await created('/v1/uploads', { size: SIZE_IN_PARTS, filename: 'large.csv' });
  const [first, second] = inParts['parts'] as { url: string; size: number }[];
  truncateSync(path.join(folder, 'part'), first?.size);
  await api('PUT', String(second?.url), { body: Buffer.alloc(Number(second?.size)) });
  const kept = { job: await job(), endpoint: await endpoint() };
  const deleted = { job: await job(), endpoint: await endpoint() };
  return (heading) => ({
    ...(heading.startsWith('DELETE') ? deleted : kept),
    upload: String(/parts|complete/.test(heading) ? inParts['id'] : whole['id']),
  });
}

describe('the endpoint reference', () => {
  const pages = new Set(
    [...textOf('docs/reference/endpoints.md').matchAll(/\((endpoints\/[\w-]+\.md)#/g)].map(([, page]) => page),
  );
  const sections = [...pages].flatMap((page) => textOf(`docs/reference/${page}`).split(/^## /m).slice(1));

  it.each(['curl', 'TypeScript', 'Python'] as const)('has examples that run in %s', async (language) => {
    expect(sections.length).toBeGreaterThan(25);
    const folder = freshFolder();
    for (const name of ['photo.jpg', 'people.csv', 'report.pdf'])
      copyFileSync(path.join(ROOT, 'api/data/samples', name), path.join(folder, name));
    writeFileSync(path.join(folder, 'part'), '');
    const objects = await makeObjects(folder);
    const blocks = sections.map((section, index) => {
      const [heading = ''] = section.split('\n');
      const [text = ''] = examplesIn(section, language);
      expect(text, heading).not.toBe('');
      const variables = Object.entries(objects(heading)).map(([name, value]) => `export ${name}='${value}'\n`);
      const run = language === 'curl' ? text : commandFor(folder, language, `example-${index}`, text);
      return `${variables.join('')}echo '${heading}' >&2\n${run}`;
    });
    await paste(folder, [trust(folder, service.ca), ...blocks], { url: service.baseUrl, key: live });
    for (const name of ['smaller.jpg', 'people.xlsx', 'clean.pdf', 'people.json'])
      expect(existsSync(path.join(folder, name)), name).toBe(true);
  });
});
