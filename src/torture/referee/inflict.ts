import { setTimeout as sleep } from 'node:timers/promises';
import { isExclusive } from '../../core/admission.ts';
import { type Disturbance, type FaultKind, LINK_FAULTS, type LinkFault } from '../history.ts';
import type { Fault } from '../schedule.ts';
import type { Crew, Recorder } from './crew.ts';

/** ms between two looks whether something was hit yet, or is worth hitting. */
const LOOK = 10;
/** ms that a process has for taking a lock that it is to hold while it is busy. */
const HOLDING = 1_000;

const isLinkFault = (kind: FaultKind): kind is LinkFault => (LINK_FAULTS as readonly FaultKind[]).includes(kind);

/** Does to the processes what the schedule says. */
export class Inflict {
  readonly #crew: Crew;
  readonly #record: Recorder;
  readonly #ttl: number;
  readonly #signal: AbortSignal;
  readonly #beset = new Set<number>();
  #ids = 0;
  /** Holders that were stopped until after the end of their leases. */
  overslept = 0;

  /** @param signal ends what is under way: who was stopped goes on */
  constructor(crew: Crew, record: Recorder, ttl: number, signal: AbortSignal) {
    this.#crew = crew;
    this.#record = record;
    this.#ttl = ttl;
    this.#signal = signal;
  }

  /** Nothing, where the same process still has to bear another fault; and half of them always can go on. */
  async inflict(fault: Fault): Promise<void> {
    const { by, kind } = fault;
    const { members } = this.#crew;
    const able = members.filter(({ state }) => state === 'working').length;
    if (this.#beset.has(by) || members[by]?.state !== 'working') return;
    if (!isLinkFault(kind) && able - 1 < members.length / 2) return;
    this.#beset.add(by);
    const id = this.begun(kind, by);
    let effective = false;
    try {
      effective = await (isLinkFault(kind) ? this.#onLinks(fault, kind) : this.#onProcess(fault));
    } finally {
      this.over(id, effective);
      this.#beset.delete(by);
    }
  }

  begun(kind: Disturbance, by?: number): number {
    const id = this.#ids++;
    this.#record.add({ what: 'disturbed', id, kind, ...(by !== undefined && { by }) });
    return id;
  }

  over(id: number, effective: boolean): void {
    this.#record.add({ what: 'over', id, effective });
  }

  async #onLinks({ by, lasts, choice }: Fault, kind: LinkFault): Promise<boolean> {
    const proxy = this.#crew.proxies[by]!;
    proxy.begin(kind, choice, this.#ttl);
    const lasting = kind === 'delayed' || kind === 'stalled' || kind === 'dripped';
    if (lasting) await this.#pass(lasts);
    else for (let passed = 0; proxy.hits === 0 && passed < lasts; passed += LOOK) await this.#pass(LOOK);
    const hit = proxy.hits > 0;
    proxy.calm();
    return hit;
  }

  async #onProcess({ by, kind, lasts }: Fault): Promise<boolean> {
    switch (kind) {
      case 'killed':
        return this.#kill(by, lasts);
      case 'stopped':
        return this.#stop(by, lasts);
      default:
        return this.#busy(by, lasts, kind === 'starved');
    }
  }

  async #kill(by: number, lasts: number): Promise<boolean> {
    const effective = this.#record.ledger.open(by).length > 0;
    this.#record.add({ what: 'killed', by });
    await this.#crew.members[by]!.kill();
    await this.#pass(lasts);
    // It may have to wait for an engine that is away: the next turn is another try.
    while (!this.#signal.aborted) {
      const begun = await this.#crew.begin(by).then(
        () => true,
        () => false,
      );
      if (begun) break;
      await this.#crew.members[by]!.kill();
      await this.#pass(1_000);
    }
    return effective;
  }

  async #stop(by: number, lasts: number): Promise<boolean> {
    const { ledger } = this.#record;
    const member = this.#crew.members[by]!;
    await this.#holding(by);
    this.#record.add({ what: 'stopped', by });
    member.stop();
    this.#crew.tellStopped();
    const open = ledger.open(by);
    await this.#pass(lasts);
    const now = this.#record.now();
    this.overslept += open.filter(({ hold }) => hold && !hold.over && hold.promised < now).length;
    this.#record.add({ what: 'continued', by });
    member.go();
    this.#crew.tellStopped();
    return open.length > 0;
  }

  async #busy(by: number, lasts: number, pieces: boolean): Promise<boolean> {
    await this.#holding(by);
    const held = await this.#crew.busy(by, lasts, pieces, this.#signal);
    await this.#pass(lasts);
    return held > 0;
  }

  /** It hits more when a process holds what only one may hold: waits a while for that. */
  async #holding(by: number): Promise<void> {
    const { ledger } = this.#record;
    for (let passed = 0; passed < HOLDING; passed += LOOK) {
      if (ledger.open(by).some((wish) => wish.hold && isExclusive(wish))) return;
      await this.#pass(LOOK);
    }
  }

  async #pass(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#signal }).catch(() => {});
  }
}
