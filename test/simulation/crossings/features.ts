/** What a request is drawn with: an option that is not the default, or something that befalls it. */
export const FEATURES = [
  'awaitRelease',
  'linger',
  'detect',
  'minHold',
  'maxHold',
  'delay',
  'wait: 0',
  'renew: false',
  'signal',
  'adaptive',
  'permits',
  'forced',
  'close',
  'memo',
] as const;
export type Feature = (typeof FEATURES)[number];

export const PRIMITIVES = ['mutex', 'read', 'write', 'semaphore', 'all', 'reentrant', 'memo'] as const;
export type Primitive = (typeof PRIMITIVES)[number];

/** `buffered` and `watch` wake waiters, in one step or in two. */
export const KINDS = ['buffered', 'watch', 'polling', 'session'] as const;
export type Kind = (typeof KINDS)[number];

const COUNTED: readonly Primitive[] = ['semaphore', 'all'];
/** A memo takes these; all others are none of its options. */
const OF_MEMOS: readonly Feature[] = ['detect', 'maxHold', 'wait: 0', 'signal', 'forced', 'close', 'memo'];

/** Why a request of this primitive, on this kind of engine, can never have the feature. */
export function excluded(feature: Feature, primitive: Primitive, kind: Kind): string | undefined {
  if (primitive === 'memo' && !OF_MEMOS.includes(feature)) return 'a memo has no such option';
  if (feature === 'permits' && !COUNTED.includes(primitive)) return 'only a semaphore has permits';
  if (feature === 'adaptive' && kind === 'session') return 'a lease that adapts has to expire by itself';
  return undefined;
}

/**
 * Where two features meet: in one request (`together`), in two requests for the same key of one process at one time (`beside`), or of
 * two processes (`across`).
 */
export const PLACES = ['together', 'beside', 'across'] as const;
export type Place = (typeof PLACES)[number];

export interface Pair {
  readonly kind: Kind;
  readonly primitive: Primitive;
  readonly place: Place;
  /** In the order of `FEATURES`. */
  readonly one: Feature;
  readonly other: Feature;
}

export const nameOf = ({ kind, primitive, place, one, other }: Pair): string =>
  `${primitive}: ${one} × ${other}, ${place}, ${kind}`;

const order = (feature: Feature): number => FEATURES.indexOf(feature);
export const pairOf = (kind: Kind, primitive: Primitive, place: Place, a: Feature, b: Feature): Pair => {
  const [one, other] = order(a) <= order(b) ? [a, b] : [b, a];
  return { kind, primitive, place, one, other };
};

const possible = (primitive: Primitive, kind: Kind): readonly Feature[] =>
  FEATURES.filter((feature) => excluded(feature, primitive, kind) === undefined);

/** Every pair that can occur. Beside a memo, a mutex of its key has the other feature. */
export const PAIRS: readonly Pair[] = KINDS.flatMap((kind) =>
  PRIMITIVES.flatMap((primitive) =>
    PLACES.flatMap((place) => {
      const own = possible(primitive, kind);
      const others = place === 'together' ? own : possible(primitive === 'memo' ? 'mutex' : primitive, kind);
      const pairs = own.flatMap((one) => others.map((other) => pairOf(kind, primitive, place, one, other)));
      const named = new Map(pairs.map((pair) => [nameOf(pair), pair]));
      return [...named.values()].filter(({ one, other }) => place !== 'together' || one !== other);
    }),
  ),
);

/** What can never be drawn, with the reason. */
export const EXCLUDED: readonly string[] = PRIMITIVES.flatMap((primitive) => {
  const reasons = FEATURES.flatMap((feature) => {
    const kinds = KINDS.filter((kind) => excluded(feature, primitive, kind));
    const where = kinds.length === KINDS.length ? '' : ` on ${kinds.join(', ')}`;
    return kinds.length > 0 ? [{ feature, why: `${where}: ${excluded(feature, primitive, kinds[0]!)}` }] : [];
  });
  return [...Map.groupBy(reasons, ({ why }) => why)].map(
    ([why, which]) => `${primitive} with ${which.map(({ feature }) => feature).join(', ')}${why}`,
  );
});
