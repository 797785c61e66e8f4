/** Parses a row of JSON, an object or an array. Numbers keep their notation; nested values become compact JSON. */
import { unparseable, type TableRow } from '#worker-image/engine/table/table-row.ts';

export type JsonRow = { readonly cells: TableRow } | { readonly members: ReadonlyMap<string, string> };

/** Parses one row. @throws MediaError processing_failed for invalid JSON and for neither an object nor an array. */
export function parseJsonRow(text: string, format: string): JsonRow {
  const trimmed = text.trim();
  refuseInvalidJson(trimmed, format);
  if (trimmed.startsWith('[')) {
    const cells = splitJson(trimmed).map(({ value }) => cellText(value));
    return { cells: cells.length === 0 ? [''] : cells };
  }
  if (!trimmed.startsWith('{')) throw unparseable(format, 'a row is neither an object nor an array');
  return {
    members: new Map(splitJson(trimmed).map(({ key, value }) => [JSON.parse(key) as string, cellText(value)])),
  };
}

/** Refuses text that is not JSON. @throws MediaError processing_failed. */
export function refuseInvalidJson(text: string, format: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw unparseable(format, `${JSON.stringify(text.slice(0, 40))}… is not valid JSON`, error);
  }
}

interface JsonPart {
  /** JSON string of the member name; empty in arrays. */
  readonly key: string;
  readonly value: string;
}

/** Returns the source text of the members or elements of valid JSON. Does not recurse: nesting may be deep. */
function splitJson(text: string): JsonPart[] {
  if (text.slice(1, -1).trim() === '') return [];
  const parts: JsonPart[] = [];
  let [start, colon, depth] = [1, -1, 0];
  for (let at = 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') at = stringEnd(text, at);
    else if (depth > 0) depth += depthChange(char);
    else if (char === ':') colon = at;
    else if (char === ',' || at === text.length - 1) {
      parts.push(partOf(text, start, colon, at));
      [start, colon] = [at + 1, -1];
    } else depth += depthChange(char);
  }
  return parts;
}

function depthChange(char: string): number {
  if (char === '{' || char === '[') return 1;
  return char === '}' || char === ']' ? -1 : 0;
}

function partOf(text: string, start: number, colon: number, end: number): JsonPart {
  if (colon === -1) return { key: '', value: text.slice(start, end).trim() };
  return { key: text.slice(start, colon).trim(), value: text.slice(colon + 1, end).trim() };
}

/** Returns the offset of the closing quote of a string. */
function stringEnd(text: string, open: number): number {
  let at = open + 1;
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at;
}

function cellText(value: string): string {
  if (value.startsWith('"')) return JSON.parse(value) as string;
  if (value === 'null') return '';
  return value.startsWith('{') || value.startsWith('[') ? compact(value) : value;
}

/** Removes the whitespace between tokens. */
function compact(json: string): string {
  const pieces: string[] = [];
  let start = 0;
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charAt(at);
    if (char === '"') at = stringEnd(json, at);
    else if (char === ' ' || char === '\n' || char === '\r' || char === '\t') {
      pieces.push(json.slice(start, at));
      start = at + 1;
    }
  }
  return pieces.join('') + json.slice(start);
}
