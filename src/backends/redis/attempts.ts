import type { Attempt, Claim } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { isLockError } from '../../core/contract/errors.ts';
import type { Port } from './port.ts';
import { ATTEMPT } from './scripts.generated.ts';
import type { Server } from './server.ts';
import { refuseUnsupported } from './server-kind.ts';
import type { Shards } from './shards.ts';
import type { Mailbox } from './wake-ups.ts';
import { attemptArgs, readAttempt } from './wire.ts';

/** µs in one ms: the unit of the scripts. */
const MICRO = 1_000;

/** What claims ask for by the clock of the server that has their key, which is learnt from every reply. */
export class Attempts {
  readonly #port: Port;
  readonly #server: Server;
  readonly #shards: Shards;
  readonly #mailbox: Mailbox;
  readonly #clock: Clock;
  readonly #remember: number;
  #known: Promise<void> | undefined;

  constructor(port: Port, server: Server, shards: Shards, mailbox: Mailbox, clock: Clock, remember: number) {
    this.#port = port;
    this.#server = server;
    this.#shards = shards;
    this.#mailbox = mailbox;
    this.#clock = clock;
    this.#remember = remember;
  }

  /** Whether the time of its server is known, so that it may ask. */
  knowsTime({ key }: Claim): boolean {
    return this.#shards.clockOf(key).known;
  }

  /** An attempt that is too late at once changes nothing, and its refusal tells the time. */
  async learnTime(claim: Claim): Promise<void> {
    // Of a Cluster any node would be asked, perhaps one that hangs; there scripts are told of all their keys, whatever server it is.
    if (!this.#port.cluster) await this.#knowServer();
    const sent = this.#clock.now();
    const args = attemptArgs(claim, '-', 0, this.#remember);
    this.read(await this.#shards.askOne(ATTEMPT, { key: claim.key, args }), claim, sent);
  }

  /** Once. Who may not ask is not refused. */
  #knowServer(): Promise<void> {
    this.#known ??= this.#server.command('ask which server it is', 'INFO', [], 'server').then(
      (info) => refuseUnsupported(String(info)),
      (error: unknown) => {
        if (!isLockError(error)) this.#known = undefined; // not answered
      },
    );
    return this.#known;
  }

  /** @param sent before the time was learnt: who gave the claim up meanwhile has released it */
  args(claim: Claim, sent: number): string[] {
    const notAfter = Math.floor((this.#shards.clockOf(claim.key).in(claim.within, sent) ?? 0) * MICRO);
    return attemptArgs(claim, this.#mailbox.channel, notAfter, this.#remember);
  }

  /**
   * Undefined: it is to be asked again. The time is learnt for the server that has the key by now: it may have moved while it was
   * asked for.
   */
  read(reply: unknown, claim: Claim, sent: number): Attempt | undefined {
    const { attempt, time } = readAttempt(reply, claim);
    this.#shards.clockOf(claim.key).learn(time / MICRO, sent);
    return attempt;
  }
}
