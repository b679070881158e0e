import { moduleOf, type PlantedBug } from '../../kit/planted.ts';
import type { CheckerName } from '../checkers.ts';

/** A register with one planted bug, and what must find it: a checker, or the true age of what a document tells. */
export interface RegisterMutant extends PlantedBug {
  readonly foundBy: CheckerName | 'ages';
  /** As in `Mutant`. */
  readonly from?: number;
}

const sightings = moduleOf<typeof import('../../../src/backends/register/sightings.ts')>(
  'backends/register/sightings.ts',
);
const calls = moduleOf<typeof import('../../../src/backends/register/calls.ts')>('backends/register/calls.ts');

export const REGISTER_MUTANTS: readonly RegisterMutant[] = [
  {
    bug: 'adds what it watched to what others watched at the same time',
    faults: [
      sightings.method(
        'Sightings',
        'see',
        (real) =>
          function (key, claims, now) {
            const own = this.by(key, now);
            const sum = (claim: Parameters<typeof own.watched>[0]) => ({
              ...claim,
              watched: (claim.watched ?? 0) + own.watched(claim)!,
            });
            real.call(this, key, Array.from(claims, sum), now);
          },
      ),
    ],
    foundBy: 'exclusion',
  },
  {
    bug: 'counts what was watched of an earlier sign of life',
    faults: [
      sightings.method(
        'Sightings',
        'by',
        (real) =>
          function (...args) {
            const sight = real.apply(this, args);
            const revive: typeof sight.revive = (claim, life) => {
              const { watched } = claim;
              sight.revive(claim, life);
              claim.watched = watched;
            };
            return { ...sight, revive };
          },
      ),
    ],
    foundBy: 'exclusion',
  },
  {
    bug: 'takes a claim that expired and came again for what it was',
    faults: [
      sightings.method(
        'Sightings',
        'see',
        (real) =>
          function (key, claims, now) {
            real.call(
              this,
              key,
              Array.from(claims, (claim) => ({ ...claim, token: 0n })),
              now,
            );
          },
      ),
      sightings.method(
        'Sightings',
        'by',
        (real) =>
          function (...args) {
            const sight = real.apply(this, args);
            const watched: typeof sight.watched = (claim) => sight.watched({ ...claim, token: 0n });
            return { ...sight, watched, remaining: (claim) => claim.life! - watched(claim)! };
          },
      ),
    ],
    foundBy: 'ages',
    from: 90,
  },
  {
    bug: 'writes on what it knows though another has written since',
    faults: [
      calls.method(
        'Calls',
        'write',
        (real) =>
          async function (key, text) {
            const { version } = await this.read(key);
            return real.call(this, key, text, version);
          },
      ),
    ],
    foundBy: 'exclusion',
  },
];
