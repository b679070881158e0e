import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/connect/index.ts';
import type { Incumbent, Leader, LeaderEvent, LeaderOptions, Term } from '../../src/index.ts';
import { leaderChannels } from '../../src/leading/events.ts';
import { serve, tell } from '../kit/worker.ts';
import { believedUntil } from './believed.ts';

/** What is told of an election, by a clock that all processes of a machine share. */
export interface Told {
  readonly what: 'elected' | 'ended' | 'settled' | 'seen' | 'event';
  readonly at: number;
  readonly token?: bigint | undefined;
  /** Whether the term was inside its deadline when it was ended. */
  readonly held?: boolean | undefined;
  /** When its leader stopped believing in the term: told of its end by the engine, or at its last known deadline. */
  readonly until?: number | undefined;
  readonly label?: string | undefined;
  readonly name?: string | undefined;
  readonly why?: string | undefined;
  /** Who led when an event came, by a question that was sent after it. */
  readonly current?: bigint | undefined;
}

const urls: Record<string, string> = JSON.parse(process.env.URLS!);
const opened = Object.entries(urls).map(async ([engine, url]) => [engine, await connect(url)] as const);
const locks = new Map(await Promise.all(opened));

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const told = (what: Told['what'], of: string, more: Partial<Told> = {}): void =>
  tell(`${what} ${of}`, { what, at: now(), ...more } satisfies Told);

interface Run {
  readonly leader: Leader;
  readonly stop: AbortController;
  readonly over: Promise<void>;
}
/** By engine and election. */
const runs = new Map<string, Run>();

/** Leads until it is told to end, and goes on working for a while. */
function reign(of: string, work: number) {
  return async (term: Term): Promise<void> => {
    const { token } = term;
    // Before it is told: the answer to that may be a signal that stops this process here.
    let until = believedUntil(term, now) ?? Number.NEGATIVE_INFINITY;
    told('elected', of, { token });
    const look = setInterval(() => {
      until = believedUntil(term, now) ?? until;
    }, 20);
    if (!term.signal.aborted) await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
    clearInterval(look);
    until = believedUntil(term, now) ?? Math.min(until, now());
    told('ended', of, { token, held: term.held, until, why: String(term.signal.reason) });
    await sleep(work);
    until = believedUntil(term, now) ?? Math.min(until, now());
    told('settled', of, { token, held: term.held, until });
  };
}

/** A process that leads when it is elected, and tells of it. */
const calls = {
  campaign(engine: string, election: string, options: LeaderOptions, work: number): void {
    const of = `${engine} ${election}`;
    const leader = locks.get(engine)!.leader(election, { pause: { pause: 10 }, ...options });
    const stop = new AbortController();
    runs.set(of, { leader, stop, over: leader.run(reign(of, work), { signal: stop.signal }) });
  },
  async stop(engine: string, election: string): Promise<void> {
    const { stop, over } = runs.get(`${engine} ${election}`)!;
    stop.abort();
    await over;
  },
  resign: (engine: string, election: string): Promise<boolean> => runs.get(`${engine} ${election}`)!.leader.resign(),
  current: (engine: string, election: string): Promise<Incumbent | null> =>
    locks.get(engine)!.leader(election).current(),
  async waiting(engine: string, election: string): Promise<number> {
    let waiting = 0;
    for await (const { held } of locks.get(engine)!.inspect(election, { exact: true })) if (!held) waiting++;
    return waiting;
  },
  /** Tells whom it sees leading. */
  observe(engine: string, election: string, every: number): void {
    void (async () => {
      for await (const who of locks.get(engine)!.leader(election).observe({ every }))
        told('seen', `${engine} ${election}`, { label: who?.label, token: who?.token });
    })();
  },
  /** Tells of the events of an election, in the order of the channel, and what the engine says once they came. */
  tellEvents(engine: string, election: string): void {
    const leader = locks.get(engine)!.leader(election);
    let last: Promise<unknown> = Promise.resolve();
    const hear = (name: string) => (message: unknown) => {
      const { name: of, token, why } = message as LeaderEvent;
      if (of !== election) return;
      const current = leader.current().then((who) => who?.token);
      last = last.then(async () =>
        told('event', `${engine} ${election}`, { name, token, why, current: await current }),
      );
    };
    leaderChannels.elected.subscribe(hear('elected'));
    leaderChannels.termEnded.subscribe(hear('ended'));
  },
};

process.once('SIGTERM', async () => {
  for (const { stop } of runs.values()) stop.abort();
  await Promise.all([...runs.values()].map(({ over }) => over));
  await Promise.all([...locks.values()].map((each) => each.close()));
  process.exit(0);
});

export type LeaderCalls = typeof calls;
serve(calls);
