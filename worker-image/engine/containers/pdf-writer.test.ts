import { describe, expect, it } from 'vitest';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';

/** Returns the text at the offset that the cross-reference table holds for an object. */
function objectAt(file: Buffer, number: number): string {
  const table = Number(/startxref\n(\d+)/.exec(file.toString('latin1'))?.[1]);
  const row = file.toString('latin1', table).split('\n')[2 + number] ?? '';
  return file.toString('latin1', Number(row.slice(0, 10))).split('\nendobj')[0] ?? '';
}

describe('PdfWriter', () => {
  it('writes objects at the offsets of the cross-reference table, also behind bytes outside of ASCII', () => {
    const writer = new PdfWriter();
    const stream = writer.addStream('/Kind /Test', Buffer.from([0xff, 0xfe, 0x0a]));
    const later = writer.reserve();
    const root = writer.add('<< /Type /Catalog >>');
    writer.fill(later, '(filled later)');
    const file = writer.finish(root);
    expect(objectAt(file, stream)).toBe('1 0 obj\n<< /Kind /Test /Length 3 >>\nstream\n\xff\xfe\n\nendstream');
    expect(objectAt(file, later)).toBe('2 0 obj\n(filled later)');
    expect(objectAt(file, root)).toBe('3 0 obj\n<< /Type /Catalog >>');
    expect(file.toString('latin1')).toContain('trailer\n<< /Size 4 /Root 3 0 R >>');
  });

  it('writes null for a reserved object that is not filled, and the Info object into the trailer', () => {
    const writer = new PdfWriter();
    const reserved = writer.reserve();
    const file = writer.finish(writer.add('<< >>'), reserved);
    expect(objectAt(file, reserved)).toBe('1 0 obj\nnull');
    expect(file.toString('latin1')).toContain('/Root 2 0 R /Info 1 0 R >>');
  });
});
