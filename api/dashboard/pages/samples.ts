import { html, type Html } from '#api/dashboard/html.ts';
import { notFound } from '#api/dashboard/not-found.ts';
import { forMember, forUser, type Route } from '#api/dashboard/route.ts';
import { table } from '#api/dashboard/table.ts';
import { bytes, counted } from '#api/dashboard/format-values.ts';
import { openSample, type Sample } from '#api/samples/samples.ts';
import { FORMATS } from '#crds/catalogue/formats.ts';

/** Page and downloads of the published samples for test keys. */
export const sampleRoutes: readonly Route[] = [
  forMember('GET', '/accounts/:account/samples', { needs: 'read_only' }, ({ samples, docsUrl }, { account }) => {
    const good = samples.all.filter(({ expected_error: code }) => code === null);
    const refused = samples.all.filter(({ expected_error: code }) => code !== null);
    const byKind = [...Map.groupBy(good, ({ kind }) => kind ?? 'other')];
    return {
      kind: 'page',
      title: `Test samples – ${account.name}`,
      body: html`<h1>Test samples</h1>
        <p>Test keys accept only these files. They are recognized by their content, not by their name.</p>
        <nav class="tabs" aria-label="Kinds">
          ${byKind.map(([kind]) => html`<a href="#${kind}">${kind}</a>`)} <a href="#errors">errors</a>
        </nav>
        ${byKind.map(([kind, of]) => group(kind, of))}
        <h2 id="errors">Files for errors</h2>
        ${table({
          caption: `${counted(refused.length, 'file')} that a payg account cannot process`,
          columns: ['File', 'Kind', '#Size', 'Error'],
          rows: refused.map((sample) => [
            link(sample),
            sample.kind ?? 'not supported',
            bytes(sample.size),
            html`<a href="${docsUrl}/reference/errors#${sample.expected_error ?? ''}"
              ><code>${sample.expected_error}</code></a
            >`,
          ]),
          empty: null,
        })}`,
    };
  }),
  forUser('GET', '/samples/:name', ({ samples }, { params }) => {
    const sample = samples.all.find(({ name }) => name === params['name']);
    if (sample === undefined) throw notFound();
    return {
      kind: 'file',
      body: openSample(sample),
      headers: {
        'Content-Type': mediaTypeOf(sample),
        'Content-Length': sample.size,
        'Content-Disposition': `attachment; filename="${sample.name}"`,
      },
    };
  }),
];

/** Pages show samples that are images. */
function mediaTypeOf({ kind, format }: Sample): string {
  return kind === 'image' && format !== null ? FORMATS[format].mediaType : 'application/octet-stream';
}

function group(kind: string, samples: readonly Sample[]): Html {
  return html`<h2 id="${kind}">${kind}</h2>
    ${table({
      caption: `${counted(samples.length, 'file')} of kind ${kind}`,
      columns: ['File', 'Format', '#Size'],
      rows: samples.map((sample) => [link(sample), sample.format ?? '–', bytes(sample.size)]),
      empty: null,
    })}`;
}

function link({ name }: Sample): Html {
  return html`<a href="/dashboard/samples/${name}" download>${name}</a>`;
}
