/** Writer of a PDF file, object by object. Computes the cross-reference table. */
export class PdfWriter {
  readonly #objects: (Buffer | null)[] = [];

  /** Adds an object and returns its number. */
  add(body: string): number {
    return this.#push(Buffer.from(body, 'latin1'));
  }

  /** Adds a stream and returns its number. `entries` are its dictionary's, without the length. */
  addStream(entries: string, data: Buffer): number {
    const head = Buffer.from(`<< ${entries} /Length ${data.length} >>\nstream\n`, 'latin1');
    return this.#push(Buffer.concat([head, data, Buffer.from('\nendstream', 'latin1')]));
  }

  /** Returns a number for an object that is added later with `fill`. */
  reserve(): number {
    return this.#push(null);
  }

  fill(number: number, body: string): void {
    this.#objects[number - 1] = Buffer.from(body, 'latin1');
  }

  /** Returns the file. @param root Number of the catalog object. @param info Number of the Info object. */
  finish(root: number, info?: number): Buffer {
    const header = Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1');
    const parts: Buffer[] = [header];
    let length = header.length;
    const offsets = this.#objects.map((body, index) => {
      const at = length;
      const object = [Buffer.from(`${index + 1} 0 obj\n`), body ?? Buffer.from('null'), Buffer.from('\nendobj\n')];
      parts.push(...object);
      length += object.reduce((sum, part) => sum + part.length, 0);
      return at;
    });
    const rows = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
    const infoEntry = info === undefined ? '' : ` /Info ${info} 0 R`;
    const count = offsets.length + 1;
    parts.push(
      Buffer.from(
        `xref\n0 ${count}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${count} /Root ${root} 0 R${infoEntry} >>\nstartxref\n${length}\n%%EOF\n`,
      ),
    );
    return Buffer.concat(parts);
  }

  #push(body: Buffer | null): number {
    return this.#objects.push(body);
  }
}
