import { mostOf } from '../../src/core/contract/extremes.ts';
import type { Actor } from './actor.ts';
import { apply, type Fault } from './faults.ts';
import { believes, type Moment, type PersonView, type Recording } from './recording.ts';
import type { Scene, WayName } from './scene.ts';
import { Stage } from './stage.ts';
import { tallyOf } from './tally.ts';

/** So long after the last thing that a person did it goes on, at least. ms */
const AFTER = 3_000;

/** One whole run, the same for the same scene, seed and faults. */
export async function play(
  scene: Scene,
  name: WayName,
  seed: number,
  faults: readonly Fault[] = [],
): Promise<Recording> {
  const stage = new Stage(scene, scene[name], seed);
  const ends = mostOf(
    faults.map(({ at }) => at + AFTER),
    scene.ends,
  );
  await stage.open();
  const moments: Moment[] = [];
  let last = '';
  let together = '';
  const watched = new Set<number>();
  /** Something is to be seen when it stops to count on the lock, too. */
  const watch = (until: number | undefined): void => {
    if (until === undefined || watched.has(until)) return;
    watched.add(until);
    stage.at(until + 0.02, () => {});
  };
  const see = (): void => {
    const moment = view(stage);
    const now = moment.people.filter((person) => believes(person, moment.at)).map(({ name }) => name);
    if (now.length > 1 && now.join() !== together) {
      const [newcomer] = now.filter((one) => !together.includes(one)).slice(-1);
      const other = now.filter((one) => one !== newcomer).join(', ');
      stage.tell({ what: 'overlaps', who: newcomer ?? now[0], other });
    }
    for (const { name, belief } of stage.actors)
      if (belief && together.includes(name) && !now.includes(name) && !stage.actor(name).process.crashed)
        stage.tell({ what: 'stops-believing', who: name, code: stage.actor(name).process.paused ? 'paused' : '' });
    for (const { belief } of moment.people) watch(belief?.until);
    together = now.join();
    const { at, ...rest } = moment;
    const text = JSON.stringify(rest);
    if (text === last) return;
    last = text;
    if (moments.at(-1)?.at === at) moments.pop();
    moments.push(moment);
  };
  see();
  scene.plot(stage);
  // After what is planned for the same time: that was seen already.
  for (const fault of faults) stage.at(fault.at, () => apply(stage, fault));
  await stage.world.run(stage.world.now + ends, see);
  const { messages } = stage.network;
  const fenced = stage.story.happenings.filter(({ what }) => what === 'fenced').length;
  const happenings = stage.story.happenings.filter(({ at }) => at <= ends);
  return { ends, moments, messages, happenings, tally: tallyOf(moments, messages, fenced, ends) };
}

const round = (ms: number): number => Math.round(ms * 100) / 100;

function view(stage: Stage): Moment {
  const { resource, network } = stage;
  return {
    at: stage.now,
    people: stage.actors.map((actor) => person(actor, stage)),
    engines: stage.engines.map(({ name, machine, line }) => ({
      name,
      paused: machine.paused,
      dead: machine.crashed,
      cut: network.isCut(name),
      line: line().map(({ who, held, token, expires }) => ({ who, held, token, expires: expires && round(expires) })),
    })),
    resource: {
      value: resource.value,
      writes: resource.writes,
      lost: resource.lost,
      ...(resource.newest !== undefined && { newest: `${resource.newest}` }),
    },
  };
}

function person(actor: Actor, stage: Stage): PersonView {
  const { name, doing, done, failed, process, belief } = actor;
  const until = belief && (belief.until() - process.clock.now()) / actor.rate;
  return {
    name,
    doing,
    done,
    ...(failed !== undefined && { failed }),
    paused: process.paused,
    dead: process.crashed,
    cut: stage.network.isCut(name),
    ...(belief?.held() && {
      belief: {
        ...(belief.token !== undefined && { token: `${belief.token}` }),
        ...(until! < Number.POSITIVE_INFINITY && { until: round(stage.now + until!) }),
      },
    }),
  };
}
