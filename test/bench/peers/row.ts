/** A row of the bench: one kind of work that the service and its peers do, case by case. */
import type { Figure } from './measured.ts';
import type { PeerName } from './peers.ts';
import type { ReadyPeers } from './prepare-peers.ts';

export interface Row {
  readonly title: string;
  /** What is done and how it is measured, for the page; Markdown. */
  readonly about: string;
  readonly peers: readonly PeerName[];
  readonly columns: readonly Column[];
  /** What is compared: at no point may a peer be both faster and smaller at an equal similarity. */
  readonly front?: Front;
  /** Names of cases, in the order of measuring. */
  readonly cases: readonly string[];
  /** Measures the cases that are wanted, one after the other. */
  readonly measure: (bench: Bench) => AsyncIterable<CaseFigures>;
}

export interface Column {
  readonly title: string;
  /** One, or several that are shown with slashes between them. */
  readonly metrics: readonly string[];
  readonly digits: number;
  /** Whether the noise of the rounds is shown, and the ratio to the service's own figure. */
  readonly noise?: boolean;
  readonly ratio?: boolean;
}

export interface Front {
  /** Every one of them is a point where speed is compared. */
  readonly speed: { readonly metrics: readonly string[]; readonly better: 'more' | 'less' };
  /** Absent where all write the same. */
  readonly size?: string;
  /** A score: higher is nearer to the input. Without one, `remarks` tell what is not equal. */
  readonly similarity?: string;
}

export interface Bench {
  readonly peers: ReadyPeers;
  /** Below it a row may keep what it fetches or makes once. */
  readonly cache: string;
  /** A folder that is removed at the end. */
  readonly folder: string;
  readonly rounds: number;
  readonly wanted: (name: string) => boolean;
  /** Progress, for a person. */
  readonly say: (line: string) => void;
}

export interface CaseFigures {
  readonly name: string;
  readonly figures: readonly Figure[];
  readonly remarks?: Readonly<Record<string, string>>;
}

/** Collects samples in the order in which they come. */
export class Samples {
  readonly #figures: Figure[] = [];

  add(who: string, metric: string, value: number): void {
    const found = this.#figures.find((figure) => figure.who === who && figure.metric === metric);
    if (found === undefined) this.#figures.push({ who, metric, samples: [value] });
    else found.samples.push(value);
  }

  get figures(): readonly Figure[] {
    return this.#figures;
  }
}
