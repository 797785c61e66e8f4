/** The text of a table cell, from the elements in it. */
import { displayedText, LINE_CHARS, type CellLine } from '#worker-image/engine/table/displayed-text.ts';
import { isHidden, isPreformatted } from '#worker-image/engine/table/html-elements.ts';
import { colspanOf, rowspanOf } from '#worker-image/engine/table/html-span.ts';

/** What a cell inherits from its row and table. */
interface Inherited {
  /** Whitespace is significant, including line ends at the edges. */
  readonly isPreformatted: boolean;
  readonly isHidden: boolean;
}

/** A cell that is being read. Its methods return by how many characters the row grows. */
export class HtmlCell {
  readonly colspan: number;
  readonly rowspan: number;
  readonly isHidden: boolean;
  readonly #isPreformatted: boolean;
  readonly #lines: CellLine[];
  /** Number of open `pre` elements. */
  #pre = 0;

  constructor(attributes: Readonly<Record<string, string>>, inherited: Inherited) {
    this.colspan = colspanOf(attributes);
    this.rowspan = rowspanOf(attributes);
    this.isHidden = inherited.isHidden || isHidden(attributes);
    this.#isPreformatted = inherited.isPreformatted || isPreformatted(attributes);
    this.#lines = [this.#emptyLine()];
  }

  get text(): string {
    return this.#isPreformatted ? this.#lines.map(({ text }) => text).join('\n') : displayedText(this.#lines);
  }

  addText(text: string): number {
    const line = this.#lines.at(-1);
    if (line !== undefined) line.text += text;
    return text.length;
  }

  openBlock(name: string): number {
    if (name === 'br') return this.#beginLine();
    if (name === 'pre') this.#pre += 1;
    return this.#beginBlock();
  }

  closeBlock(name: string): number {
    if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1);
    return this.#beginBlock();
  }

  /** Begins a line at the edge of a block; adjacent edges are one line end. */
  #beginBlock(): number {
    const last = this.#lines.at(-1) ?? this.#emptyLine();
    if (last.preformatted ? last.text !== '' : /[^ \t\n\r\f]/.test(last.text)) return this.#beginLine();
    // Whitespace at the start of a line is not displayed. If it stayed, every further edge would search it again.
    this.#lines.splice(-1, 1, this.#emptyLine());
    return 0;
  }

  #beginLine(): number {
    this.#lines.push(this.#emptyLine());
    return LINE_CHARS;
  }

  #emptyLine(): CellLine {
    return { text: '', preformatted: this.#pre > 0 || this.#isPreformatted };
  }
}
