import {
  type Attempt,
  type Claim,
  type Grant,
  type Hints,
  type Listing,
  PLACE_TTL_MS,
  type QueueEntry,
  type Refusal,
  type StoredValue,
  type ValueRecord,
  type Values,
} from '../../core/index.ts';
import { rangeFrom } from '../shared/names.ts';
import { entriesOf } from '../shared/stored-queue.ts';
import { isFull } from './errors.ts';
import { isTrue, type PoolRow } from './pool.ts';
import type { Server } from './server.ts';
import * as sql from './sql.generated.ts';

/** The types of the fields of `{claim}`. */
const CLAIM = 'bytea text int int float8 int bytea boolean float8 bigint text float8 float8 text float8'.split(' ');

/** The SQL of a claim, made of the parameters from number `first` on. */
const claimFrom = (first: number): string =>
  `ROW(${CLAIM.map((type, index) => `$${first + index}::${type}`).join()})::{claim}`;

/** For each step, the call of its procedure, which has committed when its answer comes; and the name of the step in errors. */
const STEPS = {
  attempt: [`{commit_attempt}(NULL, NULL, ${claimFrom(1)}`, 'an attempt'],
  exchange: [`{commit_attempt}($1, $2, ${claimFrom(3)}`, 'a release'],
  release: ['{commit_release}($1, $2, $3, $4, $5', 'a release'],
  evict: ['{commit_evict}($1, $2', 'a forced release'],
  // As text: postgres.js would encode a parameter of type json as JSON a second time.
  renew: ['{commit_renew}($1::text::json', 'a renewal'],
  sweep: ['{commit_sweep}($1, $2, $3', 'a sweep'],
  look: ['{commit_look}($1', 'a look at the value'],
  forget: ['{commit_forget}($1', 'forgetting the value'],
  hint: ['{commit_hint}($1, $2, $3', 'a hint'],
} as const;

type Step = keyof typeof STEPS;
type Texts = Readonly<Record<Step, string>>;

const textsOf = (quiet: boolean): Texts =>
  Object.fromEntries(Object.entries(STEPS).map(([step, [call]]) => [step, `CALL ${call}, ${quiet}, NULL)`])) as Texts;
/** The statement of each step. Those of `QUIET_CALLS` notify nobody. */
export const CALLS = textsOf(false);
const QUIET_CALLS = textsOf(true);

/**
 * Takes a step. Its answer is one text, which takes half as long as the columns of a row would. While the queue of NOTIFY is full, no
 * transaction with a notification can commit, so the step is sent again without notifications.
 */
export async function take(server: Server, step: Step, values: unknown[], key?: string): Promise<string> {
  const send = (texts: Texts) => server.send(texts[step], values, STEPS[step][1], key);
  const [row] = await send(CALLS).catch((error) => {
    if (!isFull(error)) throw error;
    return send(QUIET_CALLS);
  });
  return String(row!.answer);
}

/** Gives the fields of a row that came as the text `(a,b,…)`. The server quotes none of our fields. */
export const fieldsOf = (row: string): string[] => row.slice(1, -1).split(',');

/** The values of a claim, in the order of its fields. @param until the server's time, ms, after which the attempt is too late; null: no limit */
export const valuesOf = (
  { key, id, units, capacity, ttl, tokenCount, label, queue, minToken, placeTtl = PLACE_TTL_MS, accepts }: Claim,
  until: number | null,
  channel: string | null,
): unknown[] => [
  ...[Buffer.from(key), id, units, capacity, ttl, tokenCount, Buffer.from(label), queue, until],
  ...[minToken === undefined ? null : String(minToken), channel, placeTtl],
  ...[
    accepts && accepts.age !== Number.POSITIVE_INFINITY ? accepts.age : null,
    accepts?.mark ?? null,
    accepts?.counts ?? null,
  ],
];

const SERVER_TIME = 4;

/** Reads the answer to an attempt. @param answer a row in parentheses. A `1` before it says that the same step freed a claim. */
export function attemptOf(answer: string, { ttl }: Claim): { freed: boolean; attempt: Attempt; serverTime: number } {
  const start = answer.indexOf('(');
  const fields = fieldsOf(answer.slice(start));
  return { freed: answer[0] === '1', attempt: outcomeOf(fields, ttl), serverTime: Number(fields[SERVER_TIME]) };
}

/** @param fields those after the server's time are there only if the claim accepts a value */
function outcomeOf([state, token, ahead, retryAfter, , attempts, mark, ...value]: string[], ttl: number): Attempt {
  if (state === 'held') {
    const grant: Grant = { granted: true, token: BigInt(token!), validFor: ttl };
    return attempts ? { ...grant, attempts: Number(attempts) } : grant;
  }
  if (state === 'late') return { granted: false, late: true };
  if (state === 'value') return { granted: false, value: storedValueOf([token!, ...value]) };
  const refusal: Refusal = { granted: false, ahead: Number(ahead), retryAfter: Number(retryAfter) };
  return mark ? { ...refusal, mark: textOf(mark) } : refusal;
}

const storedValueOf = ([token, age, valid, text]: string[]): StoredValue => ({
  text: textOf(text!.slice(1)),
  token: BigInt(token!),
  age: Number(age),
  validFor: Number(valid),
});

const textOf = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString();

const rangeOf = (prefix: string, exact?: boolean): Buffer[] => Object.values(rangeFrom(prefix, exact));

export async function* entries(server: Server, prefix: string, { exact }: Listing): AsyncGenerator<QueueEntry> {
  const queues = new Map<unknown, PoolRow[]>();
  for (const row of await server.send(sql.inspect, rangeOf(prefix, exact), 'a listing')) {
    const queue = queues.get(row.key) ?? [];
    queues.set(row.key, queue);
    queue.push(row);
  }
  for (const [key, rows] of queues) yield* entriesOf(textOf(key), rows.map(listed));
}

const listed = (row: PoolRow) => ({
  token: BigInt(String(row.token)),
  units: Number(row.units),
  capacity: Number(row.capacity),
  label: textOf(row.label),
  since: Number(row.since),
  remaining: Number(row.remaining),
});

/** The first byte of the key of each hint. UTF-8 has no such byte, so nobody can lock such a key. */
const HINT = Uint8Array.of(0xff);
const hintKey = (name: string): Buffer => Buffer.concat([HINT, Buffer.from(name)]);

/** A hint is the value of a key that nobody can lock. @param ready resolves when the tables are there */
export const hintsOf = (server: Server, ready: () => Promise<void>): Hints => ({
  async read(name) {
    await ready();
    return recordOf(await take(server, 'look', [hintKey(name)])).value?.text;
  },
  async write(name, text, ttl) {
    await ready();
    if (text === undefined) await take(server, 'forget', [hintKey(name)]);
    else await take(server, 'hint', [hintKey(name), Buffer.from(text), ttl]);
  },
});

/** Values in a table of their own. @param ready as for `hintsOf` */
export const storedValuesOf = (server: Server, ready: () => Promise<void>): Values => ({
  async look(key) {
    await ready();
    return recordOf(await take(server, 'look', [Buffer.from(key)], key));
  },
  async *keys(prefix): AsyncIterable<string> {
    await ready();
    for (const row of await server.send(sql.valueKeys, rangeOf(prefix), 'a listing of the values'))
      yield textOf(row.key);
  },
  async forget(key) {
    await ready();
    return isTrue(await take(server, 'forget', [Buffer.from(key)], key));
  },
});

function recordOf(answer: string): ValueRecord {
  const fields = fieldsOf(answer);
  const [attempts, mark, begun] = fields.splice(-3);
  const last = { attempts: Number(attempts), mark: textOf(mark), begun: BigInt(begun!) };
  return fields[0] ? { ...last, value: storedValueOf(fields) } : last;
}
