import { chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './child.ts';
import { type Account, type Folder, temporaryFolder } from './folder.ts';
import { HOST } from './net.ts';
import { find } from './programs.ts';
import { until } from './wait.ts';

export interface ServerPlan {
  /** For messages. */
  readonly name: string;
  readonly port: number;
  readonly url: string;
  readonly command: string;
  /** `folder` has room for sockets; `data` in it is what `restart({ wipe: true })` empties. */
  args(data: string, folder: string): readonly string[];
  /** Fills an empty data folder. */
  prepare?(data: string, folder: string): void | Promise<void>;
  ready(): Promise<boolean>;
  /** ms until it must be ready. Default 20 s. */
  readonly within?: number;
  /** How `stop` asks it to end. Default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
  /** How the end of a test ends it. Default SIGKILL: nothing is worth keeping. */
  readonly endSignal?: NodeJS.Signals;
  readonly account?: Account;
  /** The command that runs another one on the host of the server, as root. Default: it runs here. */
  readonly host?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** What it prints when it comes back before the last children of the one before have gone: it is started again then. */
  readonly tooSoon?: RegExp;
}

/** One server of our own on loopback, in a folder of its own. */
export class Server implements AsyncDisposable {
  readonly host = HOST;
  readonly port: number;
  readonly url: string;
  readonly #plan: ServerPlan;
  readonly #folder: Folder;
  readonly #data: string;
  /** Of all its runs, whatever this process sets later. */
  readonly #env: NodeJS.ProcessEnv;
  #child!: Child;

  private constructor(plan: ServerPlan) {
    this.#plan = plan;
    this.#env = plan.env ?? { ...process.env };
    this.port = plan.port;
    this.url = plan.url;
    this.#folder = temporaryFolder(plan.account);
    this.#data = join(this.#folder.path, 'data');
  }

  /** Starts it and resolves when it answers; where several need each other, `ready: false` leaves out the waiting. */
  static async start(plan: ServerPlan, { ready = true }: { ready?: boolean } = {}): Promise<Server> {
    const server = new Server(plan);
    try {
      await server.#fill();
      server.#spawn();
      if (ready) await server.ready();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pid(): number {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#child.end === undefined;
  }

  /** What it printed last. */
  get output(): string {
    return this.#child.output;
  }

  async ready(): Promise<void> {
    const { name, within } = this.#plan;
    let ended: string | undefined;
    try {
      const answers = async (): Promise<boolean> => {
        if (this.#child.end !== undefined && this.#plan.tooSoon?.test(this.output)) this.#spawn();
        ended = this.#child.end;
        return ended !== undefined || (await this.#plan.ready());
      };
      await until(`${name} on port ${this.port} is ready`, answers, within);
    } catch (error) {
      throw new Error(`${(error as Error).message}. It printed:\n${this.output}`, { cause: error });
    }
    if (ended !== undefined) throw new Error(`${name} on port ${this.port} ${ended}. It printed:\n${this.output}`);
  }

  /** SIGSTOP: connections stay open, nothing answers. */
  pause(): void {
    this.#child.signal('SIGSTOP');
  }

  resume(): void {
    this.#child.signal('SIGCONT');
  }

  /** kill −9. */
  async kill(): Promise<void> {
    await this.#child.stop('SIGKILL');
  }

  /** The orderly end. */
  async stop(): Promise<void> {
    await this.#child.stop(this.#plan.stopSignal ?? 'SIGTERM');
  }

  /** Starts it again on the same port, with its data or, after `wipe`, without; a living one is killed first. */
  async restart({ wipe = false, ready = true }: { wipe?: boolean; ready?: boolean } = {}): Promise<void> {
    await this.kill();
    if (wipe) {
      rmSync(this.#data, { recursive: true, force: true });
      await this.#fill();
    }
    this.#spawn();
    if (ready) await this.ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child?.stop(this.#plan.endSignal ?? 'SIGKILL');
    this.#folder[Symbol.dispose]();
  }

  async #fill(): Promise<void> {
    const { account } = this.#plan;
    mkdirSync(this.#data, { mode: 0o700 });
    if (account) chownSync(this.#data, account.uid, account.gid);
    await this.#plan.prepare?.(this.#data, this.#folder.path);
  }

  #spawn(): void {
    const { command, account, args, host } = this.#plan;
    const folder = this.#folder.path;
    const own = [command, ...args(this.#data, folder)];
    // Only root may enter a host, so the account is taken there.
    const [first, ...rest] = host ? [...host, ...(account ? asAccount(account) : []), ...own] : own;
    this.#child = new Child({
      command: first!,
      args: rest,
      log: join(folder, 'log'),
      cwd: this.#data,
      account: host ? undefined : account,
      env: this.#env,
    });
  }
}

/** A process that takes another account loses the signal that the kernel sends at the death of its parent. */
const asAccount = ({ uid, gid }: Account): string[] => [
  ...[find('setpriv')!, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
  ...['--pdeathsig', 'KILL', '--'],
];

/** Several servers that end together. */
export class Servers implements AsyncDisposable {
  readonly servers: readonly Server[];
  readonly url: string;

  private constructor(servers: readonly Server[], scheme: string) {
    this.servers = servers;
    this.url = `${scheme}://${servers.map(({ url }) => new URL(url).host).join(',')}`;
  }

  /** All at once; if one does not come up, none stays. */
  static async start(scheme: string, plans: readonly ServerPlan[]): Promise<Servers> {
    const started = await Promise.allSettled(plans.map((plan) => Server.start(plan, { ready: false })));
    const running = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const group = new Servers(running, scheme);
    try {
      for (const result of started) if (result.status === 'rejected') throw result.reason;
      await Promise.all(group.servers.map((server) => server.ready()));
      return group;
    } catch (error) {
      await group[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server[Symbol.asyncDispose]()));
  }
}
