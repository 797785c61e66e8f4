/** Office documents that need a password. */
import { ole2 } from '#test/hostile/forge-ole2.ts';
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const LOCKED = {
  operation: 'convert',
  options: { convert: { to: 'pdf' } },
  ends: ['processing_failed'],
  says: /protected by a password/,
} as const;

/** Documents of Office 97 to 2003 with the marks of encryption and no readable content. */
export const LOCKED_DOCUMENTS: readonly HostileFile[] = [
  {
    ...LOCKED,
    filename: 'a.doc',
    name: 'a DOC under a password',
    bytes: () => ole2([{ name: 'WordDocument', data: fileInformation() }]),
  },
  {
    ...LOCKED,
    filename: 'a.xls',
    name: 'an XLS under a password',
    bytes: () => ole2([{ name: 'Workbook', data: lockedWorkbook() }]),
  },
  {
    ...LOCKED,
    filename: 'a.xls',
    name: 'a short XLS under a password',
    bytes: () => ole2([{ name: 'Book', data: lockedWorkbook().subarray(0, 600) }]),
  },
  {
    ...LOCKED,
    filename: 'a.ppt',
    name: 'a PPT under a password',
    bytes: () =>
      ole2([
        { name: 'Current User', data: currentUser() },
        { name: 'PowerPoint Document', data: Buffer.alloc(5000) },
      ]),
  },
  {
    ...LOCKED,
    filename: 'a.docx',
    name: 'a DOCX under a password',
    bytes: () =>
      ole2([
        { name: 'EncryptionInfo', data: Buffer.alloc(100) },
        { name: 'EncryptedPackage', data: Buffer.alloc(5000) },
      ]),
  },
];

function fileInformation(): Buffer {
  const block = Buffer.alloc(5000);
  block.writeUInt16LE(0xa5ec, 0);
  block.writeUInt16LE(0x00c1, 2);
  block.writeUInt16LE(0x0100, 10);
  return block;
}

function lockedWorkbook(): Buffer {
  const begin = Buffer.from('0908100000060500ffff0000000000000000000000000000'.slice(0, 40), 'hex');
  const password = Buffer.concat([Buffer.from('2f003600010001000100', 'hex'), Buffer.alloc(48, 0x5a)]);
  return Buffer.concat([begin, password, Buffer.alloc(6000, 0x5a)]);
}

function currentUser(): Buffer {
  return Buffer.concat([Buffer.from('0000f60f2c00000014000000dfc4d1f3', 'hex'), Buffer.alloc(40)]);
}
