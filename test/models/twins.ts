import type { Plot } from '../exploration/plots.ts';
import { type Fault, moduleOf, seenAs } from '../kit/planted.ts';
import type { CheckerName } from '../simulation/checkers.ts';
import { MUTANTS } from '../simulation/mutants.ts';
import { asks, grantByRelease, handOff, quorumToken, type Scope } from './scopes.ts';

/** A broken twin of a model, and the same bug in the code. */
export interface Twin {
  readonly scope: Scope;
  /** What is defined in the model to break it. */
  readonly name: string;
  /** How deep to look for its failure, where a search by breadth takes too much memory. */
  readonly depth?: number;
  readonly planted: readonly Fault[];
  readonly foundBy: CheckerName;
  readonly plot: Plot;
  readonly faults: number;
  /** Whether sound code makes the steps of the failure as well: then only what comes of them is wrong. */
  readonly allowed: boolean;
}

const claims = moduleOf<typeof import('../../src/backends/shared/queued-claims.ts')>(
  'backends/shared/queued-claims.ts',
);
const release = moduleOf<typeof import('../../src/core/queue/release.ts')>('core/queue/release.ts');
const tally = moduleOf<typeof import('../../src/backends/quorum/tally.ts')>('backends/quorum/tally.ts');

const known = (bug: string): readonly Fault[] => MUTANTS.find((mutant) => mutant.bug === bug)!.faults;

/** Callers of two processes who hand over, as often as each says; they work for one step, or by the clock. */
const relay = (name: string, mosts: readonly number[], ms?: number): Plot => ({
  name,
  clients: 2,
  wakes: 'buffered',
  act: async (actor) => {
    const work = ms === undefined ? undefined : () => actor.works(ms);
    const uses = (max: number) => actor.uses(...asks(actor, { handOff: { max, within: 10_000 } }), work);
    await Promise.all(mosts.map(uses));
  },
});

export const TWINS: readonly Twin[] = [
  {
    scope: grantByRelease,
    name: 'NO_POLL',
    planted: known('trusts its watch, without a poll beside it'),
    foundBy: 'endings',
    plot: {
      // In the model only the dead expiry. The place of a living process that does not poll expires as well: here later than what is
      // ahead of it, and the third asks in between.
      name: 'a line of three who come one after the other',
      clients: 3,
      wakes: 'buffered',
      act: async (actor, which) => {
        await actor.works([500, 1, 200][which]!);
        await actor.uses(...asks(actor, { handOff: false }));
      },
    },
    faults: 2,
    allowed: true,
  },
  {
    scope: grantByRelease,
    name: 'NO_EXPIRY',
    planted: [
      claims.method(
        'QueuedClaims',
        'at',
        () =>
          function (time) {
            this.time = time;
          },
      ),
    ],
    foundBy: 'endings',
    plot: grantByRelease.plots[0]!,
    faults: 1,
    allowed: true,
  },
  {
    scope: handOff,
    name: 'SAME_TOKEN',
    planted: known('hands over with the same token'),
    foundBy: 'tokens',
    plot: handOff.plots[0]!,
    faults: 0,
    allowed: true,
  },
  {
    scope: handOff,
    name: 'NO_BOUND',
    planted: known('hands over beyond the reserved tokens'),
    foundBy: 'tokens',
    // Later callers allow more than the first one, who asked for the tokens.
    plot: relay('callers that hand over more and more often', [2, 5, 5, 5]),
    faults: 0,
    allowed: false,
  },
  {
    scope: handOff,
    name: 'NO_CLOCK',
    planted: [
      ...known('says of a late release that it was in time'),
      release.exported(
        'releaseActOf',
        (real) =>
          (hold, ...rest) =>
            real(seenAs(hold, { timing: seenAs(hold.timing, { deadline: Number.POSITIVE_INFINITY }) }), ...rest),
      ),
    ],
    foundBy: 'tokens',
    // After a pause the watchdog looks at the clock as well. The model does without it: here the work of the holder ends before it,
    // since its timer is the older one.
    plot: relay('callers that work for a while and hand over', [2, 2], 250),
    faults: 1,
    allowed: false,
  },
  {
    scope: quorumToken,
    name: 'TWO_MAJORITIES',
    depth: 46,
    // Nodes that admit the claim are one majority; the highest number is not stored by all of them.
    planted: [
      tally.exported('tally', (real) => (votes, ...rest) => {
        const verdict = real(votes, ...rest);
        const tokens = votes.flatMap((vote) => (vote.kind === 'yes' ? [vote.token] : []));
        const token = tokens.reduce((most, each) => (each > most ? each : most), 0n);
        return verdict.kind === 'raise' ? { kind: 'won', token } : verdict;
      }),
      tally.exported('worthOf', (real) => (answers, majority) => real(answers, majority, undefined)),
    ],
    foundBy: 'tokens',
    plot: quorumToken.plots[0]!,
    faults: 2,
    allowed: true,
  },
];
