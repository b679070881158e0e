import type { Attempt, Claim } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { isLockError } from '../../core/errors.ts';
import type { CommandBatcher } from './command-batcher.ts';
import type { Engine } from './engine.ts';
import type { Port } from './port.ts';
import { ATTEMPT, PASS } from './scripts.generated.ts';
import { refuseUnsupported } from './server-kind.ts';
import type { Request, Shards } from './shards.ts';
import type { Mailbox } from './wake-ups.ts';
import { attemptArgs, failed, readAttempt } from './wire.ts';

/** µs in one ms: the unit of the scripts. */
const MICRO = 1_000;

/** What claims ask for by the clock of the server that has their key, which is learnt from every reply. */
export class Attempts {
  readonly #port: Port;
  readonly #engine: Engine;
  readonly #shards: Shards;
  readonly #mailbox: Mailbox;
  readonly #clock: Clock;
  readonly #remember: number;
  #known: Promise<void> | undefined;

  constructor(port: Port, engine: Engine, shards: Shards, mailbox: Mailbox, clock: Clock, remember: number) {
    this.#port = port;
    this.#engine = engine;
    this.#shards = shards;
    this.#mailbox = mailbox;
    this.#clock = clock;
    this.#remember = remember;
  }

  /** @param carry brings it to the server, together with others */
  async ask(claim: Claim, carry: CommandBatcher<Request, unknown>): Promise<Attempt> {
    const { key, within } = claim;
    const sent = this.#clock.now(); // before the time is learnt: who gave the claim up meanwhile has released it
    if (!this.#shards.clockOf(key).known) await this.#learnTime(claim);
    const asked = { key, args: this.#args(claim, sent) };
    // The line may be too long for one script. Not beyond its time: who gave it up then has released it.
    while (this.#clock.now() < sent + within) {
      const answer = this.#read(await carry.ask(asked), claim, sent);
      if (answer) return answer;
    }
    return { granted: false, late: true };
  }

  /** In one script with a release, whose reply is given as it is. No attempt: it failed, and finds out why by asking for itself. */
  async askAfter(
    release: readonly string[],
    claim: Claim,
  ): Promise<{ released: unknown; attempt: Attempt | undefined }> {
    const { key } = claim;
    const sent = this.#clock.now();
    if (!this.#shards.clockOf(key).known) await this.#learnTime(claim);
    const asked = { key, args: [...release, ...this.#args(claim, sent)] };
    const [released, reply] = (await this.#shards.askOne(PASS, asked)) as unknown[];
    return { released, attempt: failed(reply) ? undefined : this.#read(reply, claim, sent) };
  }

  /** An attempt that is too late at once changes nothing, and its refusal tells the time. */
  async #learnTime(claim: Claim): Promise<void> {
    // Of a Cluster any node would be asked, perhaps one that hangs; there scripts are told of all their keys, whatever server it is.
    if (!this.#port.cluster) await this.#knowServer();
    const sent = this.#clock.now();
    const args = attemptArgs(claim, '-', 0, this.#remember);
    this.#read(await this.#shards.askOne(ATTEMPT, { key: claim.key, args }), claim, sent);
  }

  /** Once. Who may not ask is not refused. */
  #knowServer(): Promise<void> {
    this.#known ??= this.#engine.command('ask which server it is', 'INFO', [], 'server').then(
      (info) => refuseUnsupported(String(info)),
      (error: unknown) => {
        if (!isLockError(error)) this.#known = undefined; // not answered
      },
    );
    return this.#known;
  }

  #args(claim: Claim, sent: number): string[] {
    const notAfter = Math.floor((this.#shards.clockOf(claim.key).in(claim.within, sent) ?? 0) * MICRO);
    return attemptArgs(claim, this.#mailbox.channel, notAfter, this.#remember);
  }

  /** The time is learnt for the server that has the key by now: it may have moved while it was asked for. */
  #read(reply: unknown, claim: Claim, sent: number): Attempt | undefined {
    const { attempt, time } = readAttempt(reply, claim);
    this.#shards.clockOf(claim.key).learn(time / MICRO, sent);
    return attempt;
  }
}
