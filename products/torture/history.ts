import { type Demand, mostOf } from '../../src/core/index.ts';
import type { Disturbance, Event } from './events.ts';

/** One request for one lock, and the hold that may follow. Times are ms since the start. */
export interface Operation extends Demand {
  readonly op: string;
  readonly by: number;
  readonly key: string;
  readonly asked: number;
  /** Whether the process renews the hold. */
  readonly renewed: boolean;
  hold?: RecordedHold;
  /** When the operation was over, with a hold or without. */
  ended?: number;
}

export interface RecordedHold {
  readonly token?: bigint;
  /** The first check that found the lock held was between these two times. */
  readonly before: number;
  readonly from: number;
  /** The time of the last check that found the lock held. */
  seen: number;
  /** The last known deadline. */
  promised: number;
  /** Until this time the process surely believed that it held the lock, so no other hold may overlap. It grows until the hold is over. */
  until: number;
  over: boolean;
  /** When the process found that the hold was lost. */
  lost?: number;
  /** When the engine answered the release. */
  freed?: number;
  /** When the register accepted the holder's first write. */
  claimed?: number;
  /** All other writes, accepted or refused. */
  readonly writes: { readonly at: number; readonly accepted: boolean }[];
}

export type OperationWithHold = Operation & { hold: RecordedHold };

/** The time during which a process stood still and learnt nothing. */
interface Pause {
  readonly by: number;
  readonly from: number;
  to: number;
}

/** The time during which one fault was active. */
export interface FaultPeriod {
  readonly kind: Disturbance;
  /** The process that was hit, or whose connections were. Undefined: no planned fault. */
  readonly by: number | undefined;
  readonly at: number;
  /** Infinity while the fault lasts. */
  until: number;
  effective: boolean;
}

/** Builds operations and holds from the events, one by one. */
export class History {
  readonly operations = new Map<string, Operation>();
  readonly disturbances = new Map<number, FaultPeriod>();
  readonly crashes: { readonly at: number; readonly by: number; readonly how: string }[] = [];
  readonly hung: { readonly at: number; readonly by: number }[] = [];
  readonly remains: { readonly key: string; readonly label: string }[] = [];
  /** How late timers and answers were. */
  late: { readonly at: number; readonly ms: number }[] = [];
  /** By process: the operations that are not over. */
  readonly #open = new Map<number, Set<Operation>>();
  #pauses: Pause[] = [];
  /** The time of the last event. */
  now = 0;
  /** Operations that were over before this time are forgotten. */
  since = 0;

  apply(event: Event): void {
    this.now = Math.max(this.now, event.at);
    switch (event.what) {
      case 'asked': {
        const { op, by, key, units, capacity, at, renewed = false } = event;
        const operation: Operation = { op, by, key, units, capacity, asked: at, renewed };
        this.operations.set(op, operation);
        this.#open.set(by, (this.#open.get(by) ?? new Set()).add(operation));
        return;
      }
      case 'disturbed':
        this.disturbances.set(event.id, { by: undefined, ...event, until: Number.POSITIVE_INFINITY, effective: false });
        return;
      case 'over': {
        const period = this.disturbances.get(event.id);
        if (period) Object.assign(period, { until: event.at, effective: event.effective });
        return;
      }
      case 'crashed':
      case 'hung':
      case 'killed':
        if (event.what === 'crashed') this.crashes.push(event);
        else if (event.what === 'hung') this.hung.push(event);
        this.#endAll(event.by, event.at);
        return;
      case 'stopped':
        this.#pauses.push({ by: event.by, from: event.at, to: Number.POSITIVE_INFINITY });
        return;
      case 'continued':
        for (const pause of this.#pauses) if (pause.by === event.by) pause.to = Math.min(pause.to, event.at);
        return;
      case 'remains':
        this.remains.push(event);
        return;
      case 'late':
        this.late.push(event);
        return;
      default:
        this.#applyToOperation(event);
    }
  }

  /** The operations of a process that are not over yet. */
  open(by: number): Operation[] {
    const open = this.#open.get(by) ?? new Set();
    for (const operation of open) if (operation.ended !== undefined) open.delete(operation);
    return [...open];
  }

  /** Forgets operations that were over before `time`, but keeps the highest token of each key, for comparison with later ones. */
  forget(time: number): void {
    const highest = new Map<string, Operation>();
    const token = (operation: Operation | undefined): bigint => operation?.hold?.token ?? -1n;
    for (const operation of this.operations.values())
      if (token(operation) > token(highest.get(operation.key))) highest.set(operation.key, operation);
    for (const operation of this.operations.values()) {
      const over =
        operation.ended !== undefined &&
        Math.max(operation.ended, operation.hold?.until ?? 0, operation.hold?.freed ?? 0) < time;
      if (over && highest.get(operation.key) !== operation) this.operations.delete(operation.op);
    }
    for (const by of this.#open.keys()) this.open(by);
    this.#pauses = this.#pauses.filter(({ to }) => to >= time);
    this.late = this.late.filter(({ at }) => at >= time);
    this.since = time;
  }

  #applyToOperation(event: Event & { readonly op: string }): void {
    const operation = this.operations.get(event.op);
    if (!operation) return; // the report came after the operation was forgotten
    const { hold } = operation;
    const { at } = event;
    switch (event.what) {
      case 'entered': {
        if (operation.ended !== undefined) return;
        const { before, remaining, token } = event;
        const promised = remaining === null ? before : before + remaining;
        operation.hold = {
          ...{ before, from: at, seen: before, promised, until: before, over: false, writes: [] },
          ...(token !== undefined && { token: BigInt(token) }),
        };
        return;
      }
      case 'refused':
        operation.ended ??= at;
        return;
    }
    if (!hold) return;
    switch (event.what) {
      case 'held':
        hold.seen = Math.max(hold.seen, at);
        hold.promised = Math.max(hold.promised, event.remaining === null ? at : at + event.remaining);
        if (!hold.over) hold.until = hold.seen;
        return;
      case 'left':
        hold.seen = at;
        end(operation, hold, at, at);
        return;
      case 'lost':
        hold.lost ??= at;
        end(operation, hold, Math.min(hold.promised, this.#endOfLastPause(operation.by, hold.seen, at)), at);
        return;
      case 'freed':
        hold.freed = at;
        return;
      case 'claimed':
      case 'wrote':
        if (event.what === 'claimed' && event.accepted) hold.claimed = at;
        else hold.writes.push({ at, accepted: event.accepted });
    }
  }

  /** Ends all operations of a dead process. The process believed its last answer until the deadline, or until its own end. */
  #endAll(by: number, at: number): void {
    for (const operation of this.open(by)) {
      if (operation.hold)
        end(operation, operation.hold, Math.max(operation.hold.seen, Math.min(operation.hold.promised, at)), at);
      else operation.ended = at;
    }
  }

  /**
   * First a check finds the lock held, then the process is stopped and continued, then a check finds the lock lost. Until the
   * end of that pause the process believed that it held the lock.
   */
  #endOfLastPause(by: number, seen: number, lost: number): number {
    const pauses = this.#pauses.filter((pause) => pause.by === by && pause.from >= seen && pause.to <= lost);
    // If the process had learnt of the loss before the pause, it would have reported the loss before the pause.
    return mostOf(
      pauses.map(({ to }) => to),
      seen,
    );
  }
}

/** The last report of a killed process may arrive after the report of its death. So the earlier end counts. */
function end(operation: Operation, hold: RecordedHold, until: number, at: number): void {
  hold.until = hold.over ? Math.min(hold.until, until) : until;
  hold.over = true;
  operation.ended = Math.min(operation.ended ?? at, at);
}

export function byKey<W extends Operation>(operations: Iterable<W>): Map<string, W[]> {
  const keys = new Map<string, W[]>();
  for (const operation of operations) {
    keys.get(operation.key)?.push(operation) ?? keys.set(operation.key, [operation]);
  }
  return keys;
}
