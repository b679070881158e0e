import assert from 'node:assert/strict';
import { SHARED } from '../../core/admission.ts';
import type { Law } from '../case.ts';

const CROWD = 8;
const permits = (take: number) => ({ take, of: 3, queue: false });

/** Who may be in together. */
export const exclusion: readonly Law[] = [
  {
    name: 'an exclusive hold keeps out every client, its own too',
    async check(scene) {
      const holder = scene.contender({ queue: false });
      await holder.gets();
      for (const client of scene.clients) await scene.contender({ queue: false }, client).waits();
      await holder.gets();
    },
  },
  {
    name: 'a hold of one key leaves another key alone',
    async check(scene) {
      await scene.contender().gets();
      await scene.contender({ key: `${scene.key}/other` }).gets();
    },
  },
  {
    name: 'of many exclusive attempts at the same time at most one is granted',
    async check(scene) {
      const crowd = Array.from({ length: CROWD }, () => scene.contender({ queue: false }));
      const answers = await Promise.all(crowd.map((contender) => contender.attempt()));
      const winners = answers.filter(({ granted }) => granted).length;
      assert.ok(winners <= 1, `${winners} of ${CROWD} simultaneous exclusive attempts were granted`);
      for (const contender of crowd) await contender.release();
      await scene.contender().gets();
    },
  },
  {
    name: 'readers share, and keep a writer out to the last',
    needs: ['shared seats'],
    async check(scene) {
      const readers = scene.pair({ ...SHARED, queue: false });
      const writer = scene.contender({ queue: false });
      for (const reader of readers) await reader.gets();
      await writer.waits();
      await readers[0].leaves();
      await writer.waits();
      await readers[1].leaves();
      await scene.contender({ queue: false }).gets();
    },
  },
  {
    name: 'a writer keeps readers out',
    needs: ['shared seats'],
    async check(scene) {
      await scene.contender().gets();
      for (const reader of scene.pair({ ...SHARED, queue: false })) await reader.waits();
    },
  },
  {
    name: 'permits are granted while their units fit, and no further',
    needs: ['counted seats'],
    async check(scene) {
      const two = scene.contender(permits(2));
      const one = scene.contender(permits(1));
      await two.gets();
      await scene.contender(permits(2)).waits();
      await one.gets();
      await scene.contender(permits(1)).waits();
      await two.leaves();
      await scene.contender(permits(2)).gets();
      await scene.contender(permits(1)).waits();
    },
  },
  {
    name: 'kinds mixed on one key exclude each other by their seats',
    needs: ['counted seats'],
    async check(scene) {
      const permit = scene.contender(permits(1));
      await permit.gets();
      await scene.contender({ queue: false }).waits();
      const readers = [1, 2, 3].map(() => scene.contender({ ...SHARED, queue: false }));
      await readers[0]!.gets();
      await readers[1]!.gets();
      await readers[2]!.waits(); // a room of three counts everyone in it, whatever their kind
      await permit.leaves();
      await scene.contender({ ...SHARED, queue: false }).gets();
    },
  },
];
