/** Licences of packages in the images, compared with those that a person has reviewed. */

export interface LicensedPackage {
  readonly kind: 'npm' | 'python' | 'debian';
  readonly name: string;
  /** Names of licences, as the package states them; empty: it states none. */
  readonly licences: readonly string[];
}

/** Reviewed licences of each package, by `kind name`. */
export type ReviewedLicences = Readonly<Record<string, readonly string[]>>;

/**
 * Licences that nobody can add to the reviewed ones: they bind whoever offers the service over a network, or forbid a use.
 */
const REFUSED =
  /\bAGPL|Affero|\bSSPL|\bRSAL|\bBUSL|Business Source|Commons[ -]Clause|non-?commercial|\bCC-BY-NC|non-?free/i;

/** Returns one sentence per package whose licence is refused, missing or not reviewed. */
export function licenceProblems(packages: readonly LicensedPackage[], reviewed: ReviewedLicences): string[] {
  return packages.flatMap((one) => {
    const refused = refusedLicences(one);
    if (refused.length > 0) return [`${one.kind} ${one.name}: ${refused.join(', ')} is not allowed in an image`];
    const known = reviewed[keyOf(one)];
    if (known === undefined) return [`${one.kind} ${one.name} (${named(one)}) is not reviewed`];
    if (one.licences.length === 0 && known.length > 0)
      return [`${one.kind} ${one.name} states no licence any more, unlike ${known.join(', ')}`];
    const added = one.licences.filter((licence) => !known.includes(licence));
    if (added.length > 0)
      return [`${one.kind} ${one.name}: ${added.join(', ')} is not reviewed, unlike ${known.join(', ')}`];
    return [];
  });
}

/** Returns the licences of the package that are never allowed. Of alternatives, as in `MIT OR AGPL-3.0`, one must be. */
export function refusedLicences({ licences }: LicensedPackage): string[] {
  return licences.filter((licence) => licence.split(/ or /i).every((choice) => REFUSED.test(choice)));
}

export function keyOf({ kind, name }: LicensedPackage): string {
  return `${kind} ${name}`;
}

function named({ licences }: LicensedPackage): string {
  return licences.length === 0 ? 'no licence stated' : licences.join(', ');
}
