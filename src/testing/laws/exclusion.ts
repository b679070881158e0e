import assert from 'node:assert/strict';
import { SHARED } from '../../core/index.ts';
import { type Law, law } from '../law.ts';

const CROWD = 8;
const permits = (take: number) => ({ units: take, capacity: 3, queue: false });

/** Which claims may hold a key together. */
export const exclusion: readonly Law[] = [
  law('an exclusive hold keeps out every client, its own too', async (scene) => {
    const holder = scene.contender({ queue: false });
    await holder.gets();
    for (const client of scene.clients) await scene.contender({ queue: false }, client).waits();
    await holder.gets();
  }),
  law('a hold of one key leaves another key alone', async (scene) => {
    await scene.contender().gets();
    await scene.contender({ key: `${scene.key}/other` }).gets();
  }),
  law('of many exclusive attempts at the same time at most one is granted', async (scene) => {
    const crowd = Array.from({ length: CROWD }, () => scene.contender({ queue: false }));
    const answers = await Promise.all(crowd.map((contender) => contender.attempt()));
    const winners = answers.filter(({ granted }) => granted).length;
    assert.ok(winners <= 1, `${winners} of ${CROWD} simultaneous exclusive attempts were granted`);
    for (const contender of crowd) await contender.release();
    await scene.contender().gets();
  }),
  law('readers share, and keep a writer out to the last', ['shared seats'], async (scene) => {
    const readers = scene.pair({ ...SHARED, queue: false });
    const writer = scene.contender({ queue: false });
    for (const reader of readers) await reader.gets();
    await writer.waits();
    await readers[0].leaves();
    await writer.waits();
    await readers[1].leaves();
    await scene.contender({ queue: false }).gets();
  }),
  law('a writer keeps readers out', ['shared seats'], async (scene) => {
    await scene.contender().gets();
    for (const reader of scene.pair({ ...SHARED, queue: false })) await reader.waits();
  }),
  law('permits are granted while their units fit, and no further', ['counted seats'], async (scene) => {
    const two = scene.contender(permits(2));
    const one = scene.contender(permits(1));
    await two.gets();
    await scene.contender(permits(2)).waits();
    await one.gets();
    await scene.contender(permits(1)).waits();
    await two.leaves();
    await scene.contender(permits(2)).gets();
    await scene.contender(permits(1)).waits();
  }),
  law('kinds mixed on one key exclude each other by their seats', ['counted seats'], async (scene) => {
    const permit = scene.contender(permits(1));
    await permit.gets();
    await scene.contender({ queue: false }).waits();
    const readers = [1, 2, 3].map(() => scene.contender({ ...SHARED, queue: false }));
    await readers[0]!.gets();
    await readers[1]!.gets();
    await readers[2]!.waits(); // the key has three seats, and every kind of claim counts
    await permit.leaves();
    await scene.contender({ ...SHARED, queue: false }).gets();
  }),
];
