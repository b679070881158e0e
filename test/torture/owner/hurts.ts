import type { Server } from '../../kit/server.ts';

/** What is hurt: servers that stand together, and their disk where it can be made slow. */
export interface Hurt {
  readonly servers: readonly Server[];
  readonly drag?: (ms: number) => void;
  /** Where one of several leads: its port. */
  readonly primary?: () => Promise<number>;
}

type Pass = (ms: number) => Promise<void>;
/** @param ms for which it lasts @param turn grows, so that each server has its turn */
type Act = (hurt: Hurt, ms: number, turn: number, pass: Pass) => Promise<void>;

const one = ({ servers }: Hurt, turn: number): Server => servers[turn % servers.length]!;

async function away(server: Server, ms: number, pass: Pass, wipe = false): Promise<void> {
  await server.kill();
  await pass(ms);
  await server.restart({ wipe });
}

/** What only the owner of servers can do to them. */
export const HURTS = {
  stopped: async (hurt, ms, turn, pass) => {
    const server = one(hurt, turn);
    server.pause();
    await pass(ms);
    server.resume();
  },
  'killed, back with its data': (hurt, ms, turn, pass) => away(one(hurt, turn), ms, pass),
  'killed, back without data': (hurt, ms, turn, pass) => away(one(hurt, turn), ms, pass, true),
  'its primary killed': async ({ servers, primary }, ms, _, pass) => {
    const port = await primary!();
    await away(servers.find((server) => server.port === port)!, ms, pass);
  },
  'its leader stopped': async ({ servers, primary }, ms, _, pass) => {
    const port = await primary!();
    const leader = servers.find((server) => server.port === port)!;
    leader.pause();
    await pass(ms);
    leader.resume();
  },
  'a majority stopped': async ({ servers }, ms, turn, pass) => {
    const most = servers
      .map((_, i) => servers[(turn + i) % servers.length]!)
      .slice(0, Math.floor(servers.length / 2) + 1);
    for (const server of most) server.pause();
    await pass(ms);
    for (const server of most) server.resume();
  },
  'its disk slow': async ({ drag }, ms, _, pass) => {
    drag!(250);
    await pass(ms);
    drag!(0);
  },
} as const satisfies Record<string, Act>;

export type HurtKind = keyof typeof HURTS;
