/**
 * Counts the rows of a result in JSON or NDJSON, byte by byte. A result is stricter than JSON: each line is an object,
 * all values are strings, and there is no other whitespace.
 */

type JsonFormat = 'json' | 'ndjson';

/** Each of the characters leads from one state to the other. */
type Transition = readonly [from: string, characters: string, to: string];

const OBJECT: readonly Transition[] = [
  ['row', '{', 'object'],
  ['object', '}', 'row end'],
  ['object', '"', 'key'],
  ['key end', ':', 'colon'],
  ['colon', '"', 'value'],
  ['value end', ',', 'comma'],
  ['value end', '}', 'row end'],
  ['comma', '"', 'key'],
  ...['key', 'value'].flatMap(escapesIn),
];

const FILES: Readonly<Record<JsonFormat, readonly Transition[]>> = {
  json: [
    ['start', '[', 'array'],
    ['array', ']', 'array end'],
    ['array', '\n', 'row'],
    ['row end', ',', 'separator'],
    ['separator', '\n', 'row'],
    ['row end', '\n', 'last line'],
    ['last line', ']', 'array end'],
    ['array end', '\n', 'end'],
  ],
  ndjson: [
    ['start', '{', 'object'],
    ['row end', '\n', 'end'],
    ['end', '{', 'object'],
  ],
};

/** States in which a file may end. */
const ENDS: Readonly<Record<JsonFormat, readonly string[]>> = { json: ['end'], ndjson: ['start', 'end'] };

const REFUSED = 0;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_TEXT_BYTE = 0x20;

/** Returns the number of rows. @throws Error for a file that is damaged. */
export async function countJsonRows(format: JsonFormat, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const counter = new JsonRowCounter(format);
  for await (const chunk of chunks) counter.write(chunk);
  return counter.end();
}

class JsonRowCounter {
  readonly #format: JsonFormat;
  readonly #states: readonly string[];
  /** State behind each pair of state and byte. */
  readonly #next: Uint8Array;
  #state: number;
  #rows = 0;

  constructor(format: JsonFormat) {
    const transitions = [...OBJECT, ...FILES[format]];
    this.#format = format;
    this.#states = ['refused', ...new Set(transitions.flatMap(([from, , to]) => [from, to]))];
    this.#state = this.#states.indexOf('start');
    this.#next = new Uint8Array(this.#states.length << 8).fill(REFUSED);
    for (const [from, characters, to] of transitions)
      for (const char of characters) this.#next[this.#index(from, char.charCodeAt(0))] = this.#states.indexOf(to);
  }

  write(chunk: Uint8Array): void {
    const [key, value, rowEnd] = ['key', 'value', 'row end'].map((state) => this.#states.indexOf(state));
    let state = this.#state;
    for (let at = 0; at < chunk.length; at += 1) {
      if (state === key || state === value) at = textEnd(chunk, at);
      if (at === chunk.length) break;
      state = this.#next[(state << 8) | (chunk[at] ?? 0)] ?? REFUSED;
      if (state === rowEnd) this.#rows += 1;
      else if (state === REFUSED) this.#fail('not well-formed');
    }
    this.#state = state;
  }

  end(): number {
    if (!ENDS[this.#format].includes(this.#states[this.#state] ?? '')) this.#fail('truncated');
    return this.#rows;
  }

  #index(state: string, byte: number): number {
    return (this.#states.indexOf(state) << 8) | byte;
  }

  #fail(what: string): never {
    throw new Error(`the ${this.#format} is ${what} after row ${this.#rows}`);
  }
}

/** Returns the offset of the byte that ends the text or begins an escape, or the length of the chunk. */
function textEnd(chunk: Uint8Array, from: number): number {
  let at = from;
  for (; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0;
    if (byte === QUOTE || byte === BACKSLASH || byte < FIRST_TEXT_BYTE) break;
  }
  return at;
}

function escapesIn(text: string): Transition[] {
  const hex = ['4', '3', '2', '1'].map((digits) => `${text} code ${digits}`);
  return [
    [text, '"', `${text} end`],
    [text, '\\', `${text} escape`],
    [`${text} escape`, '"\\/bfnrt', text],
    [`${text} escape`, 'u', hex[0] ?? ''],
    ...hex.map((from, index): Transition => [from, '0123456789abcdefABCDEF', hex[index + 1] ?? text]),
  ];
}
