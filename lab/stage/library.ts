import { around } from '../../products/testing/around.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import type { Attempt, Backend, Renewal } from '../../src/core/contract/backend.ts';
import { labelParts } from '../../src/core/contract/origin.ts';
import { createLocks, type Locks } from '../../src/locks.ts';
import { Client, Engine } from '../../test/simulation/engine.ts';
import type { Process } from '../../test/simulation/process.ts';
import type { Standing } from './line.ts';
import type { Kind, Says } from './message.ts';
import type { Setting } from './setting.ts';

/** What a quorum puts before a label at its nodes. */
const TAG = 16;

interface Claim extends Standing {
  /** The number of the claim on the engine. */
  readonly number: bigint;
}

/** The engines of the library, one or several, and what is told of them as it is seen from outside. */
export class Library {
  readonly engines: readonly Engine[];
  readonly #setting: Setting;
  readonly #lines = new Map<Process, readonly Claim[]>();
  readonly #watched = new Set<string>();

  constructor(machines: readonly Process[], setting: Setting) {
    this.engines = machines.map((machine) => new Engine(machine));
    this.#setting = setting;
  }

  line(engine: Engine): readonly Standing[] {
    return this.#lines.get(engine.machine) ?? [];
  }

  /** The library itself, as one process has it. */
  locksOf(process: Process, ttl: number): Locks {
    const clients = this.engines.map((engine) =>
      this.#describeMessages(new Client(engine, this.#setting.network, process, TRAITS)),
    );
    const backend = clients.length === 1 ? clients[0]! : quorum(clients, { clock: process.clock });
    return createLocks(backend, { clock: process.clock, ttl, label: process.name, handOff: false });
  }

  /** Says of each message what it is. */
  #describeMessages(client: Client): Backend {
    const next = (kind: Kind): void => this.#setting.network.next(kind);
    const { hints } = client;
    return around(client, {
      hints: hints && {
        read: (name) => {
          next('get');
          return hints.read(name);
        },
        write: (name, text, ttl) => {
          next('set');
          return hints.write(name, text, ttl);
        },
      },
      attempt: (claim) => {
        next('attempt');
        return client.attempt(claim);
      },
      renew: (claims) => {
        next('renew');
        return client.renew(claims);
      },
      release: (handle, following) => {
        next('release');
        return client.release(handle, following);
      },
    });
  }

  /** After an engine did what `process` asked for: who stands there now, and what changed by it. */
  async served(process: Process, machine: Process, kind: Kind, answer: unknown): Promise<Says | undefined> {
    const engine = this.engines.find((each) => each.machine === machine);
    if (!engine) return undefined;
    const before = this.#lines.get(machine) ?? [];
    const after = await this.#look(engine);
    this.#lines.set(machine, after);
    const place = machine.name;
    const tell = (what: Parameters<Setting['tell']>[0]['what'], more: object = {}): void =>
      this.#setting.tell({ what, who: process.name, place, ...more });

    const mine = before.find(({ who }) => who === process.name);
    const still = mine && after.some(({ token }) => token === mine.token);
    if (kind === 'attempt' && (answer as { answer?: Attempt }).answer) {
      const attempt = (answer as { answer: Attempt }).answer;
      if (!attempt.granted && attempt.late) tell('late');
      else if (!attempt.granted && !after.some(({ who }) => who === process.name))
        tell('refused', { other: after.find(({ held }) => held)?.who });
      else if (attempt.granted && mine?.held && still) tell('again', { token: `${mine.token}` });
    }
    if (kind === 'renew') {
      const [renewal] = answer as Renewal[];
      if (renewal === 'gone') tell('gone');
      else if (typeof renewal === 'object' && mine) tell('renewed', { n: renewal.validFor });
    }
    if (kind === 'release' && mine && !still) tell('released');
    else if (kind === 'release' && this.engines.length === 1) tell('releases-nothing');
    for (const [i, claim] of after.entries()) {
      const known = before.find(({ token }) => token === claim.token);
      const { who, held, token } = claim;
      const waited = known && !known.held;
      if (held && !known?.held)
        tell(waited ? 'admitted' : 'granted', { who, token, n: Math.round(claim.expires! - this.#setting.now) });
      else if (!held && !known) tell('queued', { who, n: i });
      if (held) this.#watchExpiry(machine, claim);
    }
    const waits = after.some(({ who, held }) => who === process.name && !held);
    return kind === 'attempt' && waits ? 'wait' : undefined;
  }

  async #look(engine: Engine): Promise<Claim[]> {
    const { now } = this.#setting;
    const found = await engine.standings('counter');
    return found.map(({ label, held, token, remaining }) => ({
      who: labelParts(label).label.slice(this.engines.length > 1 ? TAG : 0),
      held,
      number: token,
      token: `${token}`,
      expires: now + remaining,
    }));
  }

  #watchExpiry(machine: Process, { token, expires, who }: Claim): void {
    const watched = `${machine.name} ${token} ${expires!.toFixed(2)}`;
    if (this.#watched.has(watched)) return;
    this.#watched.add(watched);
    this.#setting.at(expires!, () => {
      const claim = this.#lines.get(machine)?.find((each) => each.token === token && each.held);
      if (claim && Math.abs(claim.expires! - this.#setting.now) < 0.1)
        // and not earlier, nor later, by a renewal
        this.#setting.tell({ what: 'expired', who, place: machine.name });
    });
  }
}

const TRAITS = { wakes: 'buffered', tokenBlocks: true } as const;
