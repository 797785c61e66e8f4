import { html, type Content, type Html } from '#api/dashboard/html.ts';

interface Table {
  /** Description of the rows for screen readers. */
  readonly caption: string;
  /** Titles of the columns. Those of numbers, aligned to the right, begin with `#`. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Content[])[];
  /** Content in place of a table without rows; explains what to do. */
  readonly empty: Content;
}

/** Returns a table; on phones each row is a card with the titles of its columns. */
export function table({ caption, columns, rows, empty }: Table): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const isNumber = columns.map((name) => name.startsWith('#'));
  const cell = (content: Content, index: number): Html =>
    html`<td ${isNumber[index] === true && html`class="number"`} data-title="${columns[index]?.replace('#', '') ?? ''}">
      <div>${content}</div>
    </td>`;
  const head = (name: string): Html =>
    name.startsWith('#')
      ? html`<th scope="col" class="number">${name.slice(1)}</th>`
      : html`<th scope="col">${name}</th>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map((name) => head(name))}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((content, index) => cell(content, index))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Returns a list of names and values. */
export function facts(rows: readonly (readonly [name: string, value: Content])[]): Html {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
