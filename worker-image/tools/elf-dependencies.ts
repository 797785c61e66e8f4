/**
 * Removes dependencies from a shared library of ELF (64 bits, little endian): the loader then neither opens nor relocates
 * them. Their symbols become weak, so that they resolve to address 0, and calling one crashes.
 * Formats: System V gABI, chapters 4 and 5, and the symbol versions of glibc (LSB, "Symbol Versioning").
 */

const MAGIC = 0x46_4c_45_7f;
const SECTION_TABLE = 0x28;
const SECTION_COUNTS = 0x3a;
const DYNAMIC_ENTRY_BYTES = 16;
const SYMBOL_BYTES = 24;
/** Tags of dynamic entries. */
const NEEDED = 1n;
const VERSIONS_NEEDED = 0x6fff_fffen;
const VERSIONS_NEEDED_COUNT = 0x6fff_ffffn;
const WEAK = 2;
const VERSION_MASK = 0x7fff;
const UNVERSIONED = 1;

interface Section {
  readonly address: bigint;
  readonly start: number;
  readonly size: number;
}

type Sections = ReadonlyMap<string, Section>;

/** Returns the names of the libraries that an ELF file depends on. @throws RangeError when it is no such file. */
export function dependenciesOf(elf: Buffer): string[] {
  const sections = readSections(elf);
  return dynamicEntries(elf, sections).flatMap(({ tag, value }) =>
    tag === NEEDED ? [nameAt(elf, sections, Number(value))] : [],
  );
}

/**
 * Returns a copy of the library without the dependencies for which `isUnused` returns true; null when it has none.
 * @throws RangeError when it is no such file.
 */
export function withoutDependencies(elf: Buffer, isUnused: (name: string) => boolean): Buffer | null {
  const removed = new Set(dependenciesOf(elf).filter(isUnused));
  if (removed.size === 0) return null;
  const copy = Buffer.from(elf);
  const sections = readSections(copy);
  const versions = keepVersions(copy, sections, removed);
  rewriteDynamic(copy, sections, { removed, versions });
  weaken(copy, sections, versions.indices);
  return copy;
}

interface KeptVersions {
  readonly address: bigint;
  readonly count: number;
  /** Version indices of symbols whose library stays. */
  readonly indices: ReadonlySet<number>;
}

/** Removes the libraries from the chain of needed versions. */
function keepVersions(elf: Buffer, sections: Sections, removed: ReadonlySet<string>): KeptVersions {
  const { start, address } = section(sections, '.gnu.version_r');
  const kept = neededVersions(elf, sections).filter(({ library }) => !removed.has(library));
  for (const [at, { offset }] of kept.entries()) {
    const next = kept[at + 1];
    elf.writeUInt32LE(next === undefined ? 0 : next.offset - offset, offset + 12);
  }
  const first = kept[0]?.offset ?? start;
  return {
    address: address + BigInt(first - start),
    count: kept.length,
    indices: new Set(kept.flatMap(({ indices }) => indices)),
  };
}

interface NeededVersion {
  readonly offset: number;
  readonly library: string;
  readonly indices: readonly number[];
}

function neededVersions(elf: Buffer, sections: Sections): NeededVersion[] {
  const found: NeededVersion[] = [];
  let offset = section(sections, '.gnu.version_r').start;
  for (;;) {
    const indices: number[] = [];
    let detail = offset + elf.readUInt32LE(offset + 8);
    for (let left = elf.readUInt16LE(offset + 2); left > 0; left -= 1) {
      indices.push(elf.readUInt16LE(detail + 6));
      detail += elf.readUInt32LE(detail + 12);
    }
    found.push({ offset, library: nameAt(elf, sections, elf.readUInt32LE(offset + 4)), indices });
    const next = elf.readUInt32LE(offset + 12);
    if (next === 0) return found;
    offset += next;
  }
}

interface Kept {
  readonly removed: ReadonlySet<string>;
  readonly versions: KeptVersions;
}

function rewriteDynamic(elf: Buffer, sections: Sections, { removed, versions }: Kept): void {
  const { start, size } = section(sections, '.dynamic');
  const kept = dynamicEntries(elf, sections).filter(
    ({ tag, value }) => tag !== NEEDED || !removed.has(nameAt(elf, sections, Number(value))),
  );
  elf.fill(0, start, start + size);
  for (const [at, { tag, value }] of kept.entries()) {
    elf.writeBigInt64LE(tag, start + at * DYNAMIC_ENTRY_BYTES);
    elf.writeBigUInt64LE(valueOf(tag, value, versions), start + at * DYNAMIC_ENTRY_BYTES + 8);
  }
}

function valueOf(tag: bigint, value: bigint, { address, count }: KeptVersions): bigint {
  if (tag === VERSIONS_NEEDED) return address;
  return tag === VERSIONS_NEEDED_COUNT ? BigInt(count) : value;
}

/** Makes the undefined symbols weak that no kept library has a version of. Those without any version are looked up as before. */
function weaken(elf: Buffer, sections: Sections, kept: ReadonlySet<number>): void {
  const { start, size } = section(sections, '.dynsym');
  const versions = section(sections, '.gnu.version').start;
  for (let index = 1; index < size / SYMBOL_BYTES; index += 1) {
    const symbol = start + index * SYMBOL_BYTES;
    const version = versions + index * 2;
    const isDefined = elf.readUInt16LE(symbol + 6) !== 0;
    if (isDefined || kept.has(elf.readUInt16LE(version) & VERSION_MASK)) continue;
    elf.writeUInt8((WEAK << 4) | (elf.readUInt8(symbol + 4) & 0xf), symbol + 4);
    elf.writeUInt16LE(UNVERSIONED, version);
  }
}

function dynamicEntries(elf: Buffer, sections: Sections): { tag: bigint; value: bigint }[] {
  const { start, size } = section(sections, '.dynamic');
  return Array.from({ length: size / DYNAMIC_ENTRY_BYTES }, (_, at) => ({
    tag: elf.readBigInt64LE(start + at * DYNAMIC_ENTRY_BYTES),
    value: elf.readBigUInt64LE(start + at * DYNAMIC_ENTRY_BYTES + 8),
  }));
}

function readSections(elf: Buffer): Sections {
  if (elf.readUInt32LE(0) !== MAGIC || elf[4] !== 2 || elf[5] !== 1) throw new RangeError('no ELF file of 64 bits');
  const table = Number(elf.readBigUInt64LE(SECTION_TABLE));
  const [entryBytes, count, names] = [0, 2, 4].map((at) => elf.readUInt16LE(SECTION_COUNTS + at));
  const headers = Array.from({ length: count ?? 0 }, (_, at) => table + at * (entryBytes ?? 0));
  const startOf = (header: number): number => Number(elf.readBigUInt64LE(header + 0x18));
  const strings = startOf(headers[names ?? 0] ?? 0);
  return new Map(
    headers.map((header) => [
      textAt(elf, strings + elf.readUInt32LE(header)),
      {
        address: elf.readBigUInt64LE(header + 0x10),
        start: startOf(header),
        size: Number(elf.readBigUInt64LE(header + 0x20)),
      },
    ]),
  );
}

function section(sections: Sections, name: string): Section {
  const found = sections.get(name);
  if (found === undefined) throw new RangeError(`the ELF file has no section ${name}`);
  return found;
}

function nameAt(elf: Buffer, sections: Sections, offset: number): string {
  return textAt(elf, section(sections, '.dynstr').start + offset);
}

function textAt(elf: Buffer, start: number): string {
  return elf.toString('latin1', start, elf.indexOf(0, start));
}
