import { isExclusive } from '../../core/contract/admission.ts';
import { type Disturbance, type FaultKind, LINK_FAULTS, type LinkFault } from '../history.ts';
import type { Fault } from '../schedule.ts';
import type { Crew, Recorder } from './crew.ts';
import { pass } from './pass.ts';

/** Time between two checks whether a fault has hit, or could hit, ms. */
const LOOK = 10;
/** How long to wait until a process holds a lock that a fault can hit, ms. */
const HOLDING = 1_000;

const isLinkFault = (kind: FaultKind): kind is LinkFault => (LINK_FAULTS as readonly FaultKind[]).includes(kind);

/** Applies the faults of the schedule to the processes. */
export class Inflict {
  readonly #crew: Crew;
  readonly #record: Recorder;
  readonly #ttl: number;
  readonly #signal: AbortSignal;
  readonly #beset = new Set<number>();
  #ids = 0;
  /** Holders that stood still past the end of their leases. */
  overslept = 0;

  /** @param signal ends the faults under way: stopped processes continue */
  constructor(crew: Crew, record: Recorder, ttl: number, signal: AbortSignal) {
    this.#crew = crew;
    this.#record = record;
    this.#ttl = ttl;
    this.#signal = signal;
  }

  /** Skips a fault if the process has another one. At least half of the processes always work. */
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
    if (lasting) await pass(lasts, this.#signal);
    else for (let passed = 0; proxy.hits === 0 && passed < lasts; passed += LOOK) await pass(LOOK, this.#signal);
    const hit = proxy.hits > 0;
    proxy.calm();
    return hit;
  }

  #onProcess({ by, kind, lasts }: Fault): Promise<boolean> {
    if (kind === 'killed') return this.#kill(by, lasts);
    return kind === 'stopped' ? this.#stop(by, lasts) : this.#busy(by, lasts, kind === 'starved');
  }

  async #kill(by: number, lasts: number): Promise<boolean> {
    const effective = this.#record.ledger.open(by).length > 0;
    this.#record.add({ what: 'killed', by });
    await this.#crew.members[by]!.kill();
    await pass(lasts, this.#signal);
    // The engine may be away, so this may take several tries.
    while (!this.#signal.aborted) {
      const begun = await this.#crew.begin(by).then(
        () => true,
        () => false,
      );
      if (begun) break;
      await this.#crew.members[by]!.kill();
      await pass(1_000, this.#signal);
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
    await pass(lasts, this.#signal);
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
    await pass(lasts, this.#signal);
    return held > 0;
  }

  /** A fault hits more if the process holds an exclusive lock: waits a while for that. */
  async #holding(by: number): Promise<void> {
    const { ledger } = this.#record;
    for (let passed = 0; passed < HOLDING; passed += LOOK) {
      if (ledger.open(by).some((wish) => wish.hold && isExclusive(wish))) return;
      await pass(LOOK, this.#signal);
    }
  }
}
