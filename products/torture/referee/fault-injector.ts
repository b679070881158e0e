import { setTimeout as sleep } from 'node:timers/promises';
import { isExclusive } from '../../../src/core/index.ts';
import { type FaultKind, LINK_FAULTS, type LinkFault, NETWORK_FAULTS } from '../events.ts';
import type { Fault } from '../schedule.ts';
import type { Crew } from './crew.ts';
import type { RunRecord } from './run-record.ts';

/** Time between two checks whether a fault has hit something, or could hit a hold. */
const CHECK_INTERVAL_MS = 10;
/** How long to wait until a process holds a lock that a fault can hit. */
const MAX_HOLDING_MS = 1_000;
const RESTART_MS = 1_000;

/** Resolves after `ms`, or when the signal is aborted. */
export const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});

const among =
  <K extends FaultKind>(kinds: readonly K[]) =>
  (kind: FaultKind): kind is K =>
    (kinds as readonly FaultKind[]).includes(kind);
const isLinkFault = among(LINK_FAULTS);
const isNetworkFault = among(NETWORK_FAULTS);

/** Applies the faults of the schedule to the processes. */
export class FaultInjector {
  readonly #crew: Crew;
  readonly #record: RunRecord;
  readonly #ttl: number;
  readonly #signal: AbortSignal;
  readonly #disturbed = new Set<number>();
  /** Holders that stood still past the end of their leases. */
  overslept = 0;

  /** @param signal ends all active faults: stopped processes continue */
  constructor(crew: Crew, record: RunRecord, ttl: number, signal: AbortSignal) {
    this.#crew = crew;
    this.#record = record;
    this.#ttl = ttl;
    this.#signal = signal;
  }

  /** Applies a fault. Skips it if each process that it may hit, or the network, has another fault. */
  async inject(fault: Fault): Promise<void> {
    const { candidates, kind } = fault;
    const isFree = (by: number): boolean => !this.#disturbed.has(by) && this.#crew.members[by]?.state === 'working';
    const by = candidates.find(isFree);
    if (by === undefined) return;
    const strike = this.#strikeOf(fault, by);
    if (!strike) return;
    this.#disturbed.add(by);
    const end = this.#record.disturb(kind, by);
    let effective = false;
    try {
      effective = await strike();
    } finally {
      end(effective);
      this.#disturbed.delete(by);
    }
  }

  /** Gives a function that applies the fault and returns whether it hit something. Undefined if fewer than half of the processes would still work. */
  #strikeOf(fault: Fault, by: number): (() => Promise<boolean>) | undefined {
    const { kind, lasts, choice } = fault;
    if (isLinkFault(kind)) return () => this.#onLinks(fault, by, kind);
    if (isNetworkFault(kind)) {
      const strike = this.#crew.network?.fault(kind, by, choice);
      return strike && (() => strike((ms = lasts) => delay(ms, this.#signal)));
    }
    const { members } = this.#crew;
    const able = members.filter(({ state }) => state === 'working').length;
    return able - 1 < members.length / 2 ? undefined : () => this.#onProcess(fault, by);
  }

  async #onLinks({ lasts, choice }: Fault, by: number, kind: LinkFault): Promise<boolean> {
    const proxy = this.#crew.proxies[by]!;
    proxy.beginFault(kind, choice, this.#ttl);
    const lasting = kind === 'delayed' || kind === 'stalled' || kind === 'dripped';
    if (lasting) await delay(lasts, this.#signal);
    else
      for (let passed = 0; proxy.hits === 0 && passed < lasts; passed += CHECK_INTERVAL_MS)
        await delay(CHECK_INTERVAL_MS, this.#signal);
    const hit = proxy.hits > 0;
    proxy.endFault();
    return hit;
  }

  #onProcess({ kind, lasts }: Fault, by: number): Promise<boolean> {
    if (kind === 'killed') return this.#kill(by, lasts);
    return kind === 'stopped' ? this.#stop(by, lasts) : this.#block(by, lasts, kind === 'starved');
  }

  async #kill(by: number, lasts: number): Promise<boolean> {
    const effective = this.#record.history.open(by).length > 0;
    const at = this.#record.now();
    await this.#crew.members[by]!.kill();
    this.#record.add({ what: 'killed', by }, at);
    await delay(lasts, this.#signal);
    // If the engine cannot be reached, a start fails, and the next attempt follows.
    while (!this.#signal.aborted) {
      const started = await this.#crew.begin(by).then(
        () => true,
        () => false,
      );
      if (started) break;
      await this.#crew.members[by]!.kill();
      await delay(RESTART_MS, this.#signal);
    }
    return effective;
  }

  async #stop(by: number, lasts: number): Promise<boolean> {
    const { history } = this.#record;
    const member = this.#crew.members[by]!;
    await this.#waitForHold(by);
    this.#record.add({ what: 'stopped', by });
    member.stop();
    this.#crew.announceStopped();
    const open = history.open(by);
    await delay(lasts, this.#signal);
    const now = this.#record.now();
    this.overslept += open.filter(({ hold }) => hold && !hold.over && hold.promised < now).length;
    this.#record.add({ what: 'continued', by });
    member.resume();
    this.#crew.announceStopped();
    return open.length > 0;
  }

  async #block(by: number, lasts: number, pieces: boolean): Promise<boolean> {
    await this.#waitForHold(by);
    const held = await this.#crew.block(by, lasts, pieces, this.#signal);
    await delay(lasts, this.#signal);
    return held > 0;
  }

  /** Waits for up to `MAX_HOLDING_MS` until the process holds an exclusive lock, so that the fault hits a holder. */
  async #waitForHold(by: number): Promise<void> {
    const { history } = this.#record;
    for (let passed = 0; passed < MAX_HOLDING_MS; passed += CHECK_INTERVAL_MS) {
      if (history.open(by).some((operation) => operation.hold && isExclusive(operation))) return;
      await delay(CHECK_INTERVAL_MS, this.#signal);
    }
  }
}
