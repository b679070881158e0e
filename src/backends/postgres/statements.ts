import { type Claim, PLACE_TTL } from '../../core/backend.ts';
import type { Row } from './client.ts';
import { isFull } from './errors.ts';
import type { Server } from './server.ts';

/** What the scripts take for a claim, from this parameter on. */
const claimFrom = (first: number): string => Array.from({ length: 12 }, (_, n) => `$${first + n}`).join();

/** Every step that writes: a procedure, which has committed when it answers. */
const CALLS = {
  attempt: `{commit_attempt}(${claimFrom(1)}`,
  release: '{commit_release}($1, $2',
  exchange: `{commit_exchange}($1, $2, ${claimFrom(3)}`,
  evict: '{commit_evict}($1, $2',
  sweep: '{commit_sweep}($1, $2, $3',
};

export type Step = keyof typeof CALLS;

/** The steps, each answered by one text: a row asked for as one value, as text however the pool takes rows, costs half of what its columns would. */
export class Statements {
  readonly #server: Server;
  readonly #loud: Readonly<Record<Step, string>>;
  readonly #quiet: Readonly<Record<Step, string>>;

  constructor(server: Server, named: (script: string) => string) {
    this.#server = server;
    const texts = (quiet: boolean) =>
      Object.fromEntries(
        Object.entries(CALLS).map(([step, call]) => [step, named(`CALL ${call}, ${quiet}, NULL)`)]),
      ) as Record<Step, string>;
    this.#loud = texts(false);
    this.#quiet = texts(true);
  }

  /** Where the server's queue of messages is full, and so lets no transaction commit that has one, once more without messages. */
  async run(step: Step, values: unknown[], asked: string, key?: string): Promise<string> {
    const send = (texts: Readonly<Record<Step, string>>) => this.#server.send(texts[step], values, asked, key);
    const [row] = await send(this.#loud).catch((error) => {
      if (!isFull(error)) throw error;
      return send(this.#quiet);
    });
    return answerOf(row!);
  }
}

export const answerOf = ({ answer }: Row): string => String(answer);

/** Of a row as text; none of ours needs quotes. */
export const fieldsOf = (row: string): string[] => row.slice(1, -1).split(',');

/** Of a claim, in the order of the scripts' arguments. @param until server's time after which it must not count */
export const valuesOf = (
  { key, id, take, of, ttl, span, label, queue, atLeast, placeTtl = PLACE_TTL }: Claim,
  until: number | null,
  channel: string | null,
): unknown[] => [
  ...[Buffer.from(key), id, take, of, ttl, span, Buffer.from(label), queue, until],
  ...[atLeast === undefined ? null : String(atLeast), channel, placeTtl],
];
