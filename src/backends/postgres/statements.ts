import { type Claim, PLACE_TTL_MS } from '../../core/index.ts';
import { isFull } from './errors.ts';
import type { Row } from './pool.ts';
import type { Server } from './server.ts';

/** The parameters of a claim, from this one on. */
const claimFrom = (first: number, length = 12): string => Array.from({ length }, (_, n) => `$${first + n}`).join();

/** Every step that writes is a procedure, which has committed when it answers. Beside each, its name in errors. */
const STEPS = {
  attempt: [`{commit_attempt}(${claimFrom(1)}`, 'an attempt'],
  release: ['{commit_release}($1, $2', 'a release'],
  exchange: [`{commit_exchange}($1, $2, ${claimFrom(3)}`, 'a release'],
  ask: [`{commit_ask}($1, $2, ${claimFrom(3, 15)}`, 'an attempt'],
  leave: ['{commit_leave}($1, $2, $3, $4, $5', 'a release'],
  evict: ['{commit_evict}($1, $2', 'a forced release'],
  sweep: ['{commit_sweep}($1, $2, $3', 'a sweep'],
} as const;

type Step = keyof typeof STEPS;
type Texts = Readonly<Record<Step, string>>;

const textsOf = (quiet: boolean): Texts =>
  Object.fromEntries(Object.entries(STEPS).map(([step, [call]]) => [step, `CALL ${call}, ${quiet}, NULL)`])) as Texts;
const [LOUD, QUIET] = [textsOf(false), textsOf(true)];

/**
 * Takes a step. Its answer is one text, however the pool reads rows: that costs half of what the columns of a row would. While the
 * server's queue of messages is full, no transaction with a message can commit: then the step is taken without messages.
 */
export async function take(server: Server, step: Step, values: unknown[], key?: string): Promise<string> {
  const send = (texts: Texts) => server.send(texts[step], values, STEPS[step][1], key);
  const [row] = await send(LOUD).catch((error) => {
    if (!isFull(error)) throw error;
    return send(QUIET);
  });
  return answerOf(row!);
}

export const answerOf = ({ answer }: Row): string => String(answer);

/** The fields of a row that came as text; none of ours needs quotes. */
export const fieldsOf = (row: string): string[] => row.slice(1, -1).split(',');

/** Where in the fields of an attempt the server's time is. */
export const SERVER_TIME = 4;

/** The values of a claim, in the order of the scripts. @param until server's time after which the claim must not count */
export const valuesOf = (
  { key, id, units, capacity, ttl, tokenCount, label, queue, minToken, placeTtl = PLACE_TTL_MS }: Claim,
  until: number | null,
  channel: string | null,
): unknown[] => [
  ...[Buffer.from(key), id, units, capacity, ttl, tokenCount, Buffer.from(label), queue, until],
  ...[minToken === undefined ? null : String(minToken), channel, placeTtl],
];
