import { Choice } from '../simulation/choice.ts';
import { type Choose, type Move, TIME } from './moves.ts';

/** Whose turn it is, as far as the order of turns is concerned: a route, a process that stands still, or time. */
function threadOf({ text }: Move): string {
  const [kind, what = ''] = text.split(' ');
  return kind === 'deliver' ? what.replace(/\.\d+$/, '') : text;
}

/**
 * One schedule, drawn: probabilistic concurrency testing, which finds a bug that depends on the order of `depth` moves with a
 * probability that can be stated (S. Burckhardt and others, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs",
 * ASPLOS 2010). Each thread has a priority, the highest goes on, and at `depth` - 1 points the one that goes on falls behind all others.
 * @param steps about how many moves a run has
 * @param faults how many moves are faults instead, at points drawn as well
 */
export function sample(random: () => number, steps: number, depth: number, faults: number): Choose {
  const draw = new Choice(random);
  const points = (count: number): Set<number> => new Set(Array.from({ length: count }, () => draw.whole(0, steps)));
  const falls = points(depth - 1);
  const troubles = points(faults);
  const priorities = new Map<string, number>();
  let step = 0;
  let lowest = 0;
  return (moves) => {
    const faulty = moves.filter(({ fault }) => fault);
    const trouble = troubles.has(step) && faulty.length > 0;
    const falling = falls.has(step++);
    if (trouble) return draw.pick(faulty);
    const priority = (move: Move): number => {
      const thread = threadOf(move);
      const known = priorities.get(thread);
      // Time that passes early hides what could happen before; so it comes last as often as not.
      const drawn = known ?? (thread === TIME && draw.chance(0.5) ? 0 : draw.between(0, 1));
      if (known === undefined) priorities.set(thread, drawn);
      return drawn;
    };
    const sound = moves.filter(({ fault }) => !fault);
    if (sound.length === 0) return draw.pick(moves);
    const first = sound.reduce((best, move) => (priority(move) > priority(best) ? move : best));
    if (falling) priorities.set(threadOf(first), --lowest);
    return first;
  };
}
