import type { Server } from '../../kit/server.ts';

/** What is hurt: servers that stand together, and their disk where it can be made slow. */
export interface Hurt {
  readonly servers: readonly Server[];
  readonly drag?: (ms: number) => void;
  /** Sets their clocks, where that can be done. */
  readonly step?: (ms: number) => void;
  /** Where one of several leads: its port. */
  readonly primary?: () => Promise<number>;
}

type Pass = (ms: number) => Promise<void>;
/** @param ms for which it lasts @param turn grows, so that each server has its turn */
type Act = (hurt: Hurt, ms: number, turn: number, pass: Pass) => Promise<void>;

const one = ({ servers }: Hurt, turn: number): Server => servers[turn % servers.length]!;

const leaderOf = async ({ servers, primary }: Hurt): Promise<Server> => {
  const port = await primary!();
  return servers.find((server) => server.port === port)!;
};

async function still(servers: readonly Server[], ms: number, pass: Pass): Promise<void> {
  for (const server of servers) server.pause();
  await pass(ms);
  for (const server of servers) server.resume();
}

async function away(server: Server, ms: number, pass: Pass, wipe = false): Promise<void> {
  await server.kill();
  await pass(ms);
  await server.restart({ wipe });
}

const TEN_MINUTES = 600_000;
/**
 * By how much a clock is set, one after the other, ms. Back by no more than a few seconds: where leases go by that clock, what a dead
 * process held is not free before the clock is there again, and the key shows nothing more.
 */
const BACK = [50, 5_000, 200];
const FORWARD = [50, TEN_MINUTES, 200, 5_000];

/** What only the owner of servers can do to them. */
export const HURTS = {
  stopped: (hurt, ms, turn, pass) => still([one(hurt, turn)], ms, pass),
  'killed, back with its data': (hurt, ms, turn, pass) => away(one(hurt, turn), ms, pass),
  'killed, back without data': (hurt, ms, turn, pass) => away(one(hurt, turn), ms, pass, true),
  'its primary killed': async (hurt, ms, _, pass) => away(await leaderOf(hurt), ms, pass),
  'its leader stopped': async (hurt, ms, _, pass) => still([await leaderOf(hurt)], ms, pass),
  'a majority stopped': ({ servers }, ms, turn, pass) => {
    const most = servers
      .map((_, i) => servers[(turn + i) % servers.length]!)
      .slice(0, Math.floor(servers.length / 2) + 1);
    return still(most, ms, pass);
  },
  'its disk slow': async ({ drag }, ms, _, pass) => {
    drag!(250);
    await pass(ms);
    drag!(0);
  },
  'its clock set back': async ({ step }, ms, turn, pass) => {
    step!(-BACK[turn % BACK.length]!);
    await pass(ms);
  },
  'its clock set back by ten minutes': async ({ step }, ms, _, pass) => {
    step!(-TEN_MINUTES);
    await pass(ms);
  },
  'its clock set forward': async ({ step }, ms, turn, pass) => {
    step!(FORWARD[turn % FORWARD.length]!);
    await pass(ms);
  },
} as const satisfies Record<string, Act>;

export type HurtKind = keyof typeof HURTS;
