import { setImmediate as drained } from 'node:timers/promises';
import type { Process } from '../simulation/process.ts';
import { World } from '../simulation/world.ts';
import { type Choose, type Move, TIME } from './moves.ts';

interface Message {
  readonly id: string;
  readonly from: string;
  readonly to: Process;
  readonly arrive: () => void;
  /** What happens instead, where somebody waits for an answer. */
  readonly lost: () => void;
  /** It is on its way for as long as it takes, and others overtake it. */
  held: boolean;
}

/** How many faults of each kind a run may have, and until when. */
export interface Bounds {
  readonly faults: number;
  /** ms of virtual time after which nothing goes wrong any more. */
  readonly horizon: number;
}

const deliver = ({ id, to }: Message): Move => ({ text: `deliver ${id}`, touches: [to.name, id], fault: false });
const fault = (kind: string, what: string, touches: readonly string[]): Move => ({
  text: `${kind} ${what}`,
  touches,
  fault: true,
});

/**
 * Where everything that happens was chosen: which message arrives next, which one is held up or lost, which process stands still or dies.
 * Time passes while nothing is on its way but what is held up: to the next timer of anybody.
 */
export class Stage extends World {
  readonly schedule: string[] = [];
  readonly #messages: Message[] = [];
  readonly #processes: Process[] = [];
  readonly #sent = new Map<string, number>();
  readonly #bounds: Bounds;
  readonly #done: () => boolean;
  #faults = 0;
  onFault: (kind: string, process: Process) => void = () => {};
  onCrash: (process: Process) => void = () => {};

  /** @param done everybody has what they wanted: time need not pass any more */
  constructor(bounds: Bounds, done: () => boolean) {
    super();
    this.#bounds = bounds;
    this.#done = done;
  }

  /** One that may stand still or die. */
  join(process: Process): void {
    this.#processes.push(process);
  }

  /** @param lost what its sender hears when it is lost */
  send(from: string, to: Process, arrive: () => void, lost: () => void = () => {}): void {
    const route = `${from}>${to.name}`;
    const number = (this.#sent.get(route) ?? 0) + 1;
    this.#sent.set(route, number);
    this.#messages.push({ id: `${route}.${number}`, from, to, arrive, lost, held: false });
  }

  /** Until nothing is left to choose, or `choose` ends it: then false. `seen` looks after each move. */
  async play(choose: Choose, seen: () => unknown): Promise<boolean> {
    await this.#settle(seen);
    for (;;) {
      const moves = this.#moves();
      if (moves.length === 0) return true;
      const move = choose(moves);
      if (!move) return false;
      this.schedule.push(move.text);
      this.#make(move);
      await this.#settle(seen);
    }
  }

  /** Nothing goes wrong any more: what was held up arrives, who stood still goes on, and time passes until `until`. */
  async end(until: number, seen: () => unknown): Promise<void> {
    for (const process of this.#processes) if (!process.crashed && process.paused) process.resume();
    await this.#settle(seen);
    for (;;) {
      const message = this.#messages.shift();
      if (message) message.to.deliver(message.arrive);
      else if (this.next <= until) this.step();
      else break;
      await this.#settle(seen);
    }
    this.now = until;
  }

  /** All that follows at once, such as what a process that goes on has to catch up with. */
  async #settle(seen: () => unknown): Promise<void> {
    await drained();
    await seen();
    while (this.next <= this.now) {
      this.step();
      await drained();
      await seen();
    }
    for (let i = this.#messages.length; i-- > 0; ) if (this.#messages[i]!.to.crashed) this.#messages.splice(i, 1);
  }

  /** The first is what happens where nothing is wrong: what is on its way arrives, then time passes. */
  #moves(): Move[] {
    const reachable = this.#messages.filter(({ to }) => !to.paused);
    const routes = new Map<string, Message>();
    for (const message of reachable) {
      const route = `${message.from}>${message.to.name}`;
      if (!message.held && !routes.has(route)) routes.set(route, message); // a connection keeps the order
    }
    const heads = [...routes.values()];
    const stopped = this.#processes.filter(({ crashed, paused }) => !crashed && paused);
    const late = [
      ...reachable.filter(({ held }) => held).map(deliver),
      ...stopped.map(({ name }) => ({ text: `resume ${name}`, touches: [name], fault: false })),
    ];
    const faults = this.#faults < this.#bounds.faults ? this.#faultsFor(heads) : [];
    if (heads.length > 0) return [...heads.map(deliver), ...late, ...faults];
    const passes = this.next <= this.#bounds.horizon && !(late.length === 0 && this.#done());
    if (passes) return [{ text: TIME, touches: [TIME], fault: false }, ...late, ...faults];
    return late.length > 0 ? [...late, ...faults] : [];
  }

  #faultsFor(heads: readonly Message[]): Move[] {
    const living = this.#processes.filter(({ crashed, paused }) => !crashed && !paused);
    const between = heads.filter(({ from, to }) => from !== to.name); // a step of one's own is no message
    return [
      ...between.flatMap(({ id, from }) => [fault('hold', id, [id, from]), fault('lose', id, [id, from])]),
      ...living.flatMap(({ name }) => [fault('pause', name, [name]), fault('crash', name, [name])]),
    ];
  }

  #make({ text, fault }: Move): void {
    const [kind, what] = text.split(' ');
    if (fault) this.#faults++;
    if (kind === TIME) {
      this.step();
      return;
    }
    const process = this.#processes.find(({ name }) => name === what);
    if (process) {
      if (fault) this.onFault(kind!, process);
      if (kind === 'resume') process.resume();
      else if (kind === 'pause') process.pause(Number.POSITIVE_INFINITY);
      else {
        process.crash();
        this.onCrash(process);
      }
      return;
    }
    const at = this.#messages.findIndex(({ id }) => id === what);
    const message = this.#messages[at]!;
    if (kind === 'hold') {
      message.held = true;
      return;
    }
    this.#messages.splice(at, 1);
    if (kind === 'deliver') message.to.deliver(message.arrive);
    else message.lost();
  }
}
