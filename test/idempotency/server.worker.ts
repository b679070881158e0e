import { connect } from '../../src/connect/index.ts';
import { serve, tell } from '../kit/worker.ts';
import { FRAMEWORKS, type Work } from './frameworks.ts';

const locks = await connect(process.env.URL!);
const ends = new Map<string, () => void>();
let runs = 0;

const work: Work = async ({ id, act }, token) => {
  runs++;
  tell(`begun ${id}`, token);
  if (act === 'slow') await new Promise<void>((resolve) => ends.set(id, resolve));
  return { status: 201, body: JSON.stringify({ id, pid: process.pid }) };
};

const calls = {
  /** Starts the server of a framework. @returns its URL */
  start: async (framework: string, ttl: number): Promise<string> =>
    (await FRAMEWORKS[framework]!(locks, work, { ttl, wait: 2_000 }))[0],
  /** Lets slow work end. */
  end: (id: string): void => ends.get(id)?.(),
  runs: (): number => runs,
};

export type ServerCalls = typeof calls;
serve(calls);
