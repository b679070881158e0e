import { fileURLToPath } from 'node:url';
import type { ProcessEvent, RefereeEvent } from '../events.ts';
import type { History } from '../history.ts';
import { FaultyProxy } from '../link/proxy.ts';
import type { FromWorker, Question, Task, TestLock } from '../messages.ts';
import { Member } from './member.ts';
import type { Register } from './register.ts';

export interface CrewPlan {
  readonly url: string;
  readonly testLocks: readonly TestLock[];
  /** ms */
  readonly ttl: number;
  readonly processes: number;
  readonly seed: number;
  readonly label: string;
  /** Whether connections lead through proxies. */
  readonly links: boolean;
  readonly busy: number;
  /** Who renews while a loop is blocked. */
  readonly renewal?: 'worker' | undefined;
  /** The program of a process. Default: ours. */
  readonly worker?: URL | undefined;
}

/** Where events go. */
export interface Recorder {
  readonly history: History;
  now(): number;
  /** ns, of `process.hrtime` */
  readonly origin: bigint;
  add(event: ProcessEvent | RefereeEvent, at?: number): void;
}

const WORKER = new URL('../process/worker.ts', import.meta.url);

/** The processes, with their restarts and connections. */
export class Crew {
  readonly members: Member[] = [];
  readonly proxies: readonly FaultyProxy[];
  readonly #plan: CrewPlan;
  readonly #record: Recorder;
  readonly #register: Register;
  readonly #turns: number[];
  /** Each function takes the number of locks that a process held when it became busy. */
  readonly #busyReplies = new Map<number, (held: number) => void>();

  constructor(plan: CrewPlan, record: Recorder, register: Register) {
    this.#plan = plan;
    this.#record = record;
    this.#register = register;
    this.#turns = Array.from({ length: plan.processes }, () => 0);
    this.proxies = Array.from({ length: plan.processes }, () => new FaultyProxy());
  }

  /** Starts all processes. @throws the first failure */
  async start(): Promise<void> {
    const started = await Promise.allSettled(this.#turns.map((_, by) => this.begin(by)));
    for (const one of started) if (one.status === 'rejected') throw one.reason;
  }

  /** Starts a process, or starts it again. */
  async begin(by: number): Promise<void> {
    const { url, testLocks, ttl, seed, label, links, busy, renewal, worker = WORKER } = this.#plan;
    const turn = this.#turns[by]!++;
    const onCrash = (how: string): void => this.#record.add({ what: 'crashed', by, how });
    const member = new Member(fileURLToPath(worker), (message) => this.#receive(by, member, message), onCrash);
    this.members[by] = member;
    const task: Task = {
      ...{ url, testLocks, ttl, label, by, busy, renewal, routed: links, origin: `${this.#record.origin}` },
      ...{ seed: seed + by * 1_000 + turn, name: `${by + 1}.${turn + 1}` },
    };
    await member.start(task);
  }

  /** @returns how many locks it held at the start */
  async makeBusy(by: number, ms: number, pieces: boolean, signal: AbortSignal): Promise<number> {
    const held = new Promise<number>((resolve) => {
      this.#busyReplies.set(by, resolve);
      signal.addEventListener('abort', () => resolve(0), { once: true });
    });
    this.members[by]!.send({ busy: ms, pieces });
    return held;
  }

  /** Tells the processes which others are stopped: if this process dies, they continue those. */
  tellStopped(): void {
    const stopped = this.members.flatMap(({ state, pid }) => (state === 'stopped' && pid ? [pid] : []));
    for (const member of this.members) if (member.state === 'working') member.send({ stopped });
  }

  async end(): Promise<void> {
    for (const proxy of this.proxies) proxy.endFault();
    await Promise.all(this.members.map((member) => member.end()));
    await Promise.all(this.proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
  }

  #receive(by: number, member: Member, message: FromWorker): void {
    if ('told' in message) {
      const { at, ...told } = message.told;
      this.#record.add(told as ProcessEvent, at);
    } else if ('held' in message) this.#busyReplies.get(by)?.(message.held);
    else if ('ask' in message) void this.#answer(by, member, message.ask, message.question);
  }

  async #answer(by: number, member: Member, answer: number, question: Question): Promise<void> {
    let value: number;
    if ('route' in question) {
      const { host, port } = question.route;
      value = await this.proxies[by]!.port(host, port);
    } else {
      const { history } = this.#record;
      const [what, op] =
        'claim' in question ? (['claimed', question.claim] as const) : (['wrote', question.write] as const);
      const accepted = what === 'claimed' ? this.#register.claim(history, op) : this.#register.write(history, op);
      this.#record.add({ what, op, accepted });
      value = Number(accepted);
    }
    member.send({ answer, value });
  }
}
