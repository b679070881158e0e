import { fileURLToPath } from 'node:url';
import type { FromWorker, Job, Network, ProcessEvent, Question, Task } from '../events.ts';
import type { History } from '../history.ts';
import { FaultyProxy } from '../link/proxy.ts';
import { Member } from './member.ts';
import type { RunRecord } from './run-record.ts';

export interface CrewPlan extends Job {
  readonly processes: number;
  /** The program of a process. Default: that of holdfast. */
  readonly worker?: URL | undefined;
  readonly command?: readonly string[] | undefined;
  readonly network?: Network | undefined;
}

const WORKER = new URL('../process/worker.ts', import.meta.url);

/** All processes of a run, with their restarts and connections. */
export class Crew {
  readonly members: Member[] = [];
  readonly proxies: readonly FaultyProxy[];
  readonly register = new Register();
  readonly #plan: CrewPlan;
  readonly #record: RunRecord;
  readonly #turns: number[];
  /** Each function takes the number of locks that a process held when its loop was blocked. */
  readonly #blockReplies = new Map<number, (held: number) => void>();

  constructor(plan: CrewPlan, record: RunRecord) {
    this.#plan = plan;
    this.#record = record;
    this.#turns = Array.from({ length: plan.processes }, () => 0);
    this.proxies = Array.from({ length: plan.processes }, () => new FaultyProxy());
  }

  get network(): Network | undefined {
    return this.#plan.network;
  }

  /** Starts all processes. @throws the first failure */
  async start(): Promise<void> {
    const started = await Promise.allSettled(this.#turns.map((_, by) => this.begin(by)));
    for (const one of started) if (one.status === 'rejected') throw one.reason;
  }

  /** Starts a process, or starts it again. */
  async begin(by: number): Promise<void> {
    const { processes: _, worker = WORKER, command = [process.execPath], seed, network, ...job } = this.#plan;
    const turn = this.#turns[by]!++;
    const onCrash = (how: string): void => this.#record.add({ what: 'crashed', by, how });
    const program = [...(network?.onHost(by) ?? []), ...command];
    const receive = (message: FromWorker): void => this.#receive(by, member, message);
    const member = new Member(program, fileURLToPath(worker), receive, onCrash);
    this.members[by] = member;
    const origin = `${this.#record.origin}`;
    const task: Task = { ...job, by, origin, seed: seed + by * 1_000 + turn, name: `${by + 1}.${turn + 1}` };
    await member.start(task);
  }

  /** @returns how many locks the process held at the beginning */
  async block(by: number, ms: number, pieces: boolean, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return 0; // it does not abort again, and a process that has ended does not answer
    const held = new Promise<number>((resolve) => {
      this.#blockReplies.set(by, resolve);
      signal.addEventListener('abort', () => resolve(0), { once: true });
    });
    this.members[by]!.send({ block: ms, pieces });
    return held;
  }

  /** Tells the processes which others are stopped. If this process dies, they continue the stopped ones. */
  announceStopped(): void {
    const stopped = this.members.flatMap(({ state, pid }) => (state === 'stopped' && pid ? [pid] : []));
    for (const member of this.members) if (member.state === 'working') member.send({ stopped });
  }

  /** Ends all processes. @returns the numbers of those that had not ended after `limit` ms */
  async end(limit: number): Promise<number[]> {
    for (const proxy of this.proxies) proxy.endFault();
    const ended = await Promise.all(this.members.map((member) => member.end(limit)));
    await Promise.all(this.proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
    return ended.flatMap((inTime, by) => (inTime ? [] : [by]));
  }

  #receive(by: number, member: Member, message: FromWorker): void {
    if ('events' in message) {
      for (const { at, ...event } of message.events) this.#record.add(event as ProcessEvent, at);
      if (message.asked) void this.#answer(by, member, message.asked.ask, message.asked.question);
    } else if ('held' in message) this.#blockReplies.get(by)?.(message.held);
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
      const accepted = what === 'claimed' ? this.register.claim(history, op) : this.register.write(history, op);
      this.#record.add({ what, op, accepted });
      value = Number(accepted);
    }
    member.send({ answer, value });
  }
}

/** The resource that the locks guard. It checks tokens, and also counts the writes that a resource without this check would wrongly take. */
class Register {
  /** By key: the highest token of a first write, and its operation. */
  readonly #marks = new Map<string, { token: bigint | undefined; op: string }>();
  /** Last writes that came after the first write of a later holder. */
  stale = 0;
  /** How many of the stale writes the token check refused. */
  refused = 0;

  /**
   * A holder's first write. From then on the register refuses older tokens. It accepts a write without a token.
   * @returns whether the write is accepted
   */
  claim(history: History, op: string): boolean {
    const operation = history.operations.get(op);
    if (!operation?.hold) return false;
    const { token } = operation.hold;
    if (this.#refuses(operation.key, token)) return false;
    this.#marks.set(operation.key, { token, op });
    return true;
  }

  /** A holder's last write. @returns whether its token allows it */
  write(history: History, op: string): boolean {
    const operation = history.operations.get(op);
    const mark = operation && this.#marks.get(operation.key);
    const accepted =
      mark !== undefined && operation?.hold !== undefined && !this.#refuses(operation.key, operation.hold.token);
    if (mark && mark.op !== op) {
      this.stale++;
      if (!accepted) this.refused++;
    }
    return accepted;
  }

  #refuses(key: string, token: bigint | undefined): boolean {
    const newest = this.#marks.get(key)?.token;
    return newest !== undefined && token !== undefined && token < newest;
  }
}
