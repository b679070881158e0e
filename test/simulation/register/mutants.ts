import type { CheckerName } from '../checkers.ts';
import type { Mutant } from '../mutants.ts';

/** A register with one planted bug, and what must find it: a checker, or the true age of what a document tells. */
export interface RegisterMutant extends Omit<Mutant, 'foundBy'> {
  readonly foundBy: CheckerName | 'ages';
}

export const REGISTER_MUTANTS: readonly RegisterMutant[] = [
  {
    bug: 'adds what it watched to what others watched at the same time',
    file: 'backends/register/sightings.ts',
    sound: 'Math.min(before.since, told)',
    broken: 'before.since - (claim.watched ?? 0)',
    foundBy: 'exclusion',
  },
  {
    bug: 'counts what was watched of an earlier sign of life',
    file: 'backends/register/sightings.ts',
    sound: 'claim.watched = undefined;',
    broken: '',
    foundBy: 'exclusion',
  },
  {
    bug: 'takes a claim that expired and came again for what it was',
    file: 'backends/register/sightings.ts',
    sound: '({ token, beat }: Beating): string',
    broken: '({ beat }: Beating, token = 0): string',
    foundBy: 'ages',
    from: 90,
  },
  {
    bug: 'writes on what it knows though another has written since',
    file: 'backends/register/calls.ts',
    sound: 'this.store.write(key, text, ifVersion, signal)',
    broken: 'this.store.read(key, signal).then((there) => this.store.write(key, text, there?.version, signal))',
    foundBy: 'exclusion',
  },
];
