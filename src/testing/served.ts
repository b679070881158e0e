/** One time that a client had the key. ms of a clock that all clients share. */
export interface Served {
  readonly client: number;
  readonly begin: number;
  readonly end: number;
}

/** What a client waits at most beside the tenures of all, ms. */
const BEYOND = 250;
/** How long a hold may pass from hand to hand inside a client, ms: the default of `handOff.within`. */
const WITHIN = 10;

/** How long a client waited at most, and how long any may have waited. ms. */
export interface LongestWait {
  readonly client: number;
  readonly waited: number;
  /** 250 ms and a tenure for each client; and as long as nobody at all was served: then the machine stood still, or the engine. */
  readonly bound: number;
}

/**
 * The longest wait of clients that asked without pause for one key between two times.
 * @example longestWait([{ client: 0, begin: 0, end: 1 }, { client: 1, begin: 9, end: 10 }], 2, 0, 10).waited === 9;
 */
export function longestWait(served: readonly Served[], clients: number, from: number, to: number): LongestWait {
  const inOrder = served.filter(({ begin }) => begin < to).sort((a, b) => a.begin - b.begin);
  let longest = { client: 0, waited: 0 };
  for (let client = 0; client < clients; client++) {
    const waited = longestGap(
      inOrder.filter((each) => each.client === client),
      from,
      to,
    );
    if (waited > longest.waited) longest = { client, waited };
  }
  let section = 0;
  for (const { begin, end } of inOrder) section = Math.max(section, end - begin);
  return { ...longest, bound: BEYOND + clients * (WITHIN + section) + longestGap(inOrder, from, to) };
}

function longestGap(inOrder: readonly Served[], from: number, to: number): number {
  let longest = 0;
  let last = from;
  for (const { begin, end } of inOrder) {
    longest = Math.max(longest, begin - last);
    last = Math.max(last, end);
  }
  return Math.max(longest, to - last);
}

/** The holds of one client that no other client had the key between. */
export type Turn = Served;

/**
 * The turns of all clients, in order.
 * @example turnsOf([{ client: 0, begin: 0, end: 1 }, { client: 0, begin: 1, end: 2 }]).length === 1;
 */
export function turnsOf(served: readonly Served[]): Turn[] {
  const turns: Turn[] = [];
  for (const hold of served.toSorted((a, b) => a.begin - b.begin)) {
    const last = turns.at(-1);
    if (last?.client === hold.client) turns[turns.length - 1] = { ...last, end: hold.end };
    else turns.push(hold);
  }
  return turns;
}

/**
 * The most turns that others had while a client waited.
 * @example mostTurns([{ client: 0, begin: 0, end: 1 }, { client: 1, begin: 1, end: 2 }], 3).turns === 2;
 */
export function mostTurns(
  turns: readonly Turn[],
  clients: number,
): { readonly client: number; readonly turns: number } {
  let most = { client: 0, turns: 0 };
  for (let client = 0; client < clients; client++) {
    let others = 0;
    for (const turn of turns) {
      others = turn.client === client ? 0 : others + 1;
      if (others > most.turns) most = { client, turns: others };
    }
  }
  return most;
}
