import { expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { missing, NEEDS } from './programs.ts';
import { chosenEngines, neededServers, whyNot } from './selection.ts';

test('BACKENDS chooses engines; without it all are meant', () => {
  expect(chosenEngines('redis, etcd')).toEqual(['redis', 'etcd']);
  expect(chosenEngines('mariadb')).toEqual(['mysql']);
  expect(chosenEngines('')).toEqual(Object.keys(ENGINES));
  expect(() => chosenEngines('redis,rediss')).toThrow('no engine rediss; there are memory, file');
});

test('a narrowed run installs the servers of its engines only', () => {
  expect(neededServers('redis,redlock,memory')).toEqual(['redis']);
  expect(neededServers(undefined)).toEqual(Object.keys(NEEDS));
});

test('a suite is left out for an engine that was not chosen, never for a part that is no engine', () => {
  expect(whyNot('etcd', ['redis'])).toBe('not in BACKENDS=redis');
  expect(whyNot(['memory', 'etcd'], ['memory'])).toBe('not in BACKENDS=memory');
  expect(whyNot('memory', ['memory'])).toBeUndefined();
});

test('a suite needs the server that it names, or else the first one of its engine', () => {
  const before = process.env.MYSQLD;
  process.env.MYSQLD = '/nowhere/mysqld';
  try {
    expect(whyNot(['mysql', 'mysqld'], ['mysql'])).toMatch(/mysqld.*npm run prove -- matrix/);
    expect(whyNot('mysql', ['mysql'])).toBe(missing('mariadb')?.message);
  } finally {
    if (before === undefined) delete process.env.MYSQLD;
    else process.env.MYSQLD = before;
  }
});

test('every part names what to look for', () => {
  for (const { programs } of Object.values(NEEDS)) expect(programs.length).toBeGreaterThan(0);
});
