import type { Choice } from '../../test/simulation/choice.ts';
import type { Wire } from '../../test/simulation/engine.ts';
import type { Process } from '../../test/simulation/process.ts';
import type { World } from '../../test/simulation/world.ts';
import type { Kind, Message, Says } from './message.ts';
import { since } from './since.ts';

/** What becomes of a message, where a scene or a person says so. */
export type Fate = 'lose' | { readonly hold: number } | { readonly takes: number } | undefined;

interface Flight {
  readonly message: Message;
  readonly arrive: () => void;
  /** The error for the sender that waits for an answer, where it notices the loss. */
  readonly reportBreak: () => void;
  cancel: () => void;
}

/** What is noticed of a connection that breaks, and after how long. ms */
const NOTICED = 40;

/** Between the processes, the engines and the resource: every message can be seen, held up and lost. */
export class LabNetwork implements Wire {
  readonly messages: Message[] = [];
  fate: (message: Message) => Fate = () => undefined;
  /** After an engine has done what it was asked for: what its answer says, where that is not to be seen from the answer itself. */
  served: (process: Process, machine: Process, kind: Kind, answer: unknown) => Promise<Says | undefined> | undefined =
    () => undefined;
  onLost: (message: Message) => void = () => {};
  onHeld: (message: Message) => void = () => {};
  readonly #world: World;
  readonly #choice: Choice;
  readonly #delay: readonly [number, number];
  readonly #flights = new Map<string, Flight>();
  readonly #sent = new Map<string, number>();
  readonly #cut = new Set<string>();
  #kind: Kind = 'attempt';
  #origin = 0;

  constructor(world: World, choice: Choice, delay: readonly [number, number]) {
    this.#world = world;
    this.#choice = choice;
    this.#delay = delay;
  }

  /** From here on times count, and messages are shown. */
  begin(): void {
    this.#origin = this.#world.now;
    this.messages.length = 0;
    this.#sent.clear();
  }

  /** What is sent next, in this very step, is of this kind. */
  next(kind: Kind): void {
    this.#kind = kind;
  }

  cut(one: string): void {
    this.#cut.add(one);
    for (const { message } of [...this.#flights.values()]) if (this.#isCut(message)) this.#drop(message.id);
  }

  mend(one: string): void {
    this.#cut.delete(one);
  }

  isCut(one: string): boolean {
    return this.#cut.has(one);
  }

  /** Ends a message that is on its way; its sender hears that the connection broke. */
  lose(id: string): boolean {
    const flight = this.#drop(id);
    if (!flight) return false;
    this.#world.in(NOTICED, flight.reportBreak);
    this.onLost(flight.message);
    return true;
  }

  hold(id: string, ms: number): boolean {
    const flight = this.#flights.get(id);
    if (!flight) return false;
    flight.cancel();
    flight.message.held = { at: this.#now, ms };
    flight.message.due += ms;
    this.#depart(flight);
    this.onHeld(flight.message);
    return true;
  }

  call<T>(process: Process, machine: Process, work: () => Promise<T>): Promise<T> {
    const kind = this.#kind;
    process.connect();
    return new Promise<T>((resolve, reject) => {
      const broken = (): void => process.deliver(() => reject(new Error('the connection broke')));
      const answered = (says: Says, fn: () => void): void =>
        this.#send(machine.name, process.name, kind, { answer: true, says }, () => process.deliver(fn), broken);
      const arrive = (): void => {
        if (machine.crashed) {
          this.#world.in(NOTICED, broken);
          return;
        }
        machine.deliver(() => {
          void work().then(
            async (answer) => {
              const said = await this.served(process, machine, kind, answer);
              answered(said ?? (saysNo(answer) ? 'no' : 'yes'), () => resolve(answer));
            },
            (error) => answered('no', () => reject(error)),
          );
        });
      };
      this.#send(process.name, machine.name, kind, { answer: false, says: 'yes' }, arrive, broken);
    });
  }

  tell(process: Process, machine: Process, work: () => void, kind: Kind = 'wake'): void {
    const arrive = (): void => process.deliver(work);
    this.#send(machine.name, process.name, kind, { answer: false, says: 'yes' }, arrive, () => {});
  }

  get #now(): number {
    return since(this.#world.now, this.#origin);
  }

  #send(
    from: string,
    to: string,
    kind: Kind,
    way: Pick<Message, 'answer' | 'says'>,
    arrive: () => void,
    broken: () => void,
  ): void {
    const route = `${from}-${to}`;
    const number = (this.#sent.get(route) ?? 0) + 1;
    this.#sent.set(route, number);
    const sent = this.#now;
    const due = sent + this.#choice.between(this.#delay[0], this.#delay[1]);
    const message: Message = { id: `${route}-${number}`, from, to, kind, ...way, sent, due };
    this.messages.push(message);
    const flight: Flight = { message, arrive, reportBreak: broken, cancel: () => {} };
    this.#flights.set(message.id, flight);
    const fate = this.fate(message);
    if (fate && typeof fate === 'object' && 'takes' in fate) message.due = sent + fate.takes;
    this.#depart(flight);
    if (this.#isCut(message)) this.#drop(message.id);
    // On its way, where it can be seen.
    else if (fate === 'lose') this.#world.in((message.due - sent) / 2, () => this.lose(message.id));
    else if (fate && 'hold' in fate) this.#world.in((message.due - sent) / 2, () => this.hold(message.id, fate.hold));
  }

  #depart(flight: Flight): void {
    const { id, due } = flight.message;
    flight.cancel = this.#world.at(this.#origin + due, () => {
      this.#flights.delete(id);
      flight.arrive();
    });
  }

  #drop(id: string): Flight | undefined {
    const flight = this.#flights.get(id);
    if (!flight) return undefined;
    this.#flights.delete(id);
    flight.cancel();
    flight.message.lost = this.#now;
    return flight;
  }

  #isCut({ from, to }: Message): boolean {
    return this.#cut.has(from) || this.#cut.has(to);
  }
}

/** For its colour only. */
function saysNo(answer: unknown): boolean {
  if (answer === false || answer === null) return true;
  if (typeof answer !== 'object') return false;
  const { answer: timed = answer, freed } = answer as { answer?: unknown; freed?: boolean };
  return freed === false || (timed as { granted?: boolean }).granted === false;
}
