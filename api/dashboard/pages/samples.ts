import { html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { forMember, forUser, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { bytes } from '#api/dashboard/format-values.ts';
import { openSample } from '#api/samples/samples.ts';

/** Page and downloads of the published samples for test keys. */
export const sampleRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/samples', { needs: 'read_only' }, ({ samples, docsUrl }, { account }) => ({
    kind: 'page',
    title: `Test samples – ${account.name}`,
    body: html`<h1>Test samples</h1>
      <p>Test keys accept only these files. They are recognized by their content, not by their name.</p>
      ${table({
        caption: 'Samples',
        columns: ['File', 'Kind', 'Format', '#Size', 'Outcome'],
        rows: samples.all.map(({ name, kind, format, size, expected_error: code }) => [
          html`<a href="/dashboard/samples/${name}" download>${name}</a>`,
          kind ?? '–',
          format ?? '–',
          bytes(size),
          code === null ? 'a result' : html`<a href="${docsUrl}/reference/errors#${code}"><code>${code}</code></a>`,
        ]),
        empty: null,
      })}`,
  })),
  forUser('GET', '/samples/:name', ({ samples }, { params }) => {
    const sample = samples.all.find(({ name }) => name === params['name']);
    if (sample === undefined) throw notFound();
    return {
      kind: 'file',
      body: openSample(sample),
      headers: {
        'Content-Type': 'application/octet-stream',
        'Content-Length': sample.size,
        'Content-Disposition': `attachment; filename="${sample.name}"`,
      },
    };
  }),
];
