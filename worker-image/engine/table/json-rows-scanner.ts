/**
 * Extracts the JSON text of each row without holding the file in memory: the elements of the root array, or of
 * the array under `data` or `rows` of the root object.
 *
 *   root → [ rows ] → end
 *   root → { key : value , key : [ rows ] , … } → end
 */
import { columnNamesIn, NAMES_KEYS } from '#worker-image/engine/table/json-column-names.ts';
import { MAX_ROW_CHARS, refuseLong, unparseable } from '#worker-image/engine/table/table-row.ts';

type State =
  | 'root'
  | 'first-key'
  | 'next-key'
  | 'key'
  | 'colon'
  | 'member'
  | 'scalar'
  | 'after-member'
  | 'first-row'
  | 'next-row'
  | 'after-row'
  | 'nested'
  | 'end';

const ROWS_KEYS: ReadonlySet<string> = new Set(['data', 'rows']);
const BLANK = /[ \t\n\r]/;
/** Indexed by character code: 1 for characters that are significant inside a value. */
const MARKS = Uint8Array.from({ length: 128 }, (_, code) => ('"\\{}[]'.includes(String.fromCharCode(code)) ? 1 : 0));

/** What a file contains besides its rows, as far as it was read. */
export interface JsonSurroundings {
  /** True when the rows are a member of an object. */
  isWrapped: boolean;
  /** Column names that another member of the object lists. */
  names: readonly string[] | null;
  /** True when another object follows the first one, which has no rows: the file has one value per line. */
  isSequence: boolean;
}

/** Yields the JSON text of each row, and stops at the second object of a sequence. @throws MediaError processing_failed. */
export async function* scanJsonRows(
  text: AsyncIterable<string>,
  around: JsonSurroundings = { isWrapped: false, names: null, isSequence: false },
): AsyncGenerator<string> {
  const scanner = new JsonRowsScanner(around);
  for await (const piece of text) {
    yield* scanner.write(piece);
    if (around.isSequence) return;
  }
  scanner.end();
}

class JsonRowsScanner {
  #state: State = 'root';
  /** State after `nested`: the value was a row, or a member that is no row. */
  #after: 'after-row' | 'after-member' = 'after-member';
  readonly #around: JsonSurroundings;
  /** True for a member that may list the column names. */
  #mayListNames = false;
  #found = false;
  #depth = 0;
  #quoted = false;
  #escaped = false;
  /** Text of the current row, key or list of names so far. */
  #kept = '';

  constructor(around: JsonSurroundings) {
    this.#around = around;
  }

  *write(piece: string): Generator<string> {
    let at = 0;
    while (at < piece.length && !this.#around.isSequence) {
      if (this.#state === 'nested') {
        const end = this.#nestedEnd(piece, at);
        this.#keepNested(piece.slice(at, end));
        at = end;
        if (this.#depth > 0 || this.#quoted) continue;
        this.#state = this.#after;
        if (this.#after === 'after-row') yield this.#take();
        else this.#endMember(this.#take());
      } else {
        this.#step(piece.charAt(at));
        // The bracket that opens a nested value belongs to it.
        if ((this.#state as State) !== 'nested') at += 1;
      }
    }
  }

  end(): void {
    if (this.#state !== 'end') throw unparseable('json', 'the file is truncated');
    if (!this.#found) throw unparseable('json', 'the object has no array under `data` or `rows`');
  }

  /** Processes one character outside of nested values. */
  #step(char: string): void {
    if (this.#state === 'key') return this.#keyStep(char);
    if (this.#state === 'scalar') return this.#scalarStep(char);
    if (BLANK.test(char)) return;
    this.#state = this.#next[this.#state](char);
  }

  /** Transitions: the next state for a character other than whitespace. */
  readonly #next: Readonly<Record<State, (char: string) => State>> = {
    root: (char) => this.#openRoot(char),
    'first-key': (char) => (char === '}' ? 'end' : this.#openKey(char)),
    'next-key': (char) => this.#openKey(char),
    key: (char) => this.#fail(char),
    colon: (char) => (char === ':' ? 'member' : this.#fail(char)),
    member: (char) => this.#openMember(char),
    scalar: (char) => this.#fail(char),
    'after-member': (char) => (char === ',' ? 'next-key' : char === '}' ? 'end' : this.#fail(char)),
    'first-row': (char) => (char === ']' ? this.#closeRows() : this.#openRow(char)),
    'next-row': (char) => this.#openRow(char),
    'after-row': (char) => (char === ',' ? 'next-row' : char === ']' ? this.#closeRows() : this.#fail(char)),
    nested: (char) => this.#fail(char),
    end: (char) => this.#openSecond(char),
  };

  #openRoot(char: string): State {
    if (char === '[') return this.#openRows();
    this.#around.isWrapped = char === '{';
    return this.#around.isWrapped ? 'first-key' : this.#fail(char);
  }

  #openRows(): State {
    this.#found = true;
    return 'first-row';
  }

  #closeRows(): State {
    return this.#around.isWrapped ? 'after-member' : 'end';
  }

  #openKey(char: string): State {
    return char === '"' ? 'key' : this.#fail(char);
  }

  #openMember(char: string): State {
    const key = this.#take();
    if (char === '[' && ROWS_KEYS.has(key) && !this.#found) return this.#openRows();
    this.#after = 'after-member';
    this.#mayListNames = NAMES_KEYS.has(key);
    if (char === '{' || char === '[' || char === '"') return 'nested';
    return /[\dtfn-]/.test(char) ? 'scalar' : this.#fail(char);
  }

  #openRow(char: string): State {
    if (char !== '{' && char !== '[') throw unparseable('json', 'a row is neither an object nor an array');
    this.#after = 'after-row';
    return 'nested';
  }

  #openSecond(char: string): State {
    if (char !== '{' && char !== '[') return this.#fail(char);
    if (this.#found)
      throw unparseable('json', 'another value follows the first one. If each line is a value, name the file .ndjson');
    this.#around.isSequence = true;
    return 'end';
  }

  #keyStep(char: string): void {
    if (char === '"' && !this.#escaped) {
      this.#state = 'colon';
      return;
    }
    this.#escaped = char === '\\' && !this.#escaped;
    this.#keep(char);
  }

  /** Skips a number, true, false or null of a member that holds no rows. */
  #scalarStep(char: string): void {
    if (char === ',' || char === '}') this.#state = char === ',' ? 'next-key' : 'end';
    else if (!/[\w.+\-\s]/.test(char)) this.#fail(char);
  }

  /** Returns the offset after the nested value, or the end of the piece. */
  #nestedEnd(piece: string, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      if (this.#escaped) this.#escaped = false;
      else if (MARKS[piece.charCodeAt(at)] === 1) {
        this.#mark(piece.charAt(at));
        if (this.#depth === 0 && !this.#quoted) return at + 1;
      }
    }
    return piece.length;
  }

  #mark(char: string): void {
    if (char === '"') this.#quoted = !this.#quoted;
    else if (this.#quoted) this.#escaped = char === '\\';
    else if (char === '{' || char === '[') this.#depth += 1;
    else if (char === '}' || char === ']') this.#depth -= 1;
  }

  #keep(text: string): void {
    refuseLong(this.#kept.length + text.length);
    this.#kept += text;
  }

  #keepNested(text: string): void {
    if (this.#after === 'after-row') this.#keep(text);
    else if (this.#kept.length + text.length > MAX_ROW_CHARS) this.#dropNames();
    else if (this.#mayListNames) this.#kept += text;
  }

  /** A list that is longer than a row has no names of its columns. */
  #dropNames(): void {
    this.#mayListNames = false;
    this.#kept = '';
  }

  #endMember(json: string): void {
    if (this.#mayListNames) this.#around.names ??= columnNamesIn(json);
  }

  #take(): string {
    const kept = this.#kept;
    this.#kept = '';
    return kept;
  }

  #fail(char: string): never {
    throw unparseable('json', `there is an unexpected ${JSON.stringify(char)}`);
  }
}
