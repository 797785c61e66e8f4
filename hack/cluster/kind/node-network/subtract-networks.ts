/** Subtraction of IPv4 networks, written as CIDRs. */

interface Network {
  readonly base: number;
  readonly bits: number;
}

/** Returns the fewest CIDRs that cover `from` without `less`, in the order of their addresses. */
export function subtractNetworks(from: string, less: readonly string[]): string[] {
  return less
    .reduce((left, each) => left.flatMap((network) => without(network, parse(each))), [parse(from)])
    .map(format);
}

function without(network: Network, taken: Network): Network[] {
  if (taken.bits <= network.bits) return contains(taken, network) ? [] : [network];
  if (!contains(network, taken)) return [network];
  const bits = network.bits + 1;
  const halves = [network.base, network.base + 2 ** (32 - bits)].map((base) => ({ base, bits }));
  return halves.flatMap((half) => without(half, taken));
}

function contains({ base, bits }: Network, inner: Network): boolean {
  return inner.base >= base && inner.base < base + 2 ** (32 - bits);
}

function parse(text: string): Network {
  const parts = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined) throw new Error(`${text} is not an IPv4 network`);
  const [a = 0, b = 0, c = 0, d = 0, bits = 0] = parts;
  const size = 2 ** (32 - bits);
  return { base: Math.floor((a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / size) * size, bits };
}

function format({ base, bits }: Network): string {
  return `${[24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256).join('.')}/${bits}`;
}
