import { describe, expect, test } from 'vitest';
import { shareOf } from '../../../src/backends/redis/turn.ts';

const MOST = 100;

describe('how many requests share a command', () => {
  test('a lone request goes by itself, whatever is under way', () => {
    for (const underWay of [0, 1, 2, 3, 10]) expect(shareOf(1, underWay, MOST)).toBe(1);
  });

  test('with nothing under way they are three commands', () => {
    expect(Math.ceil(64 / shareOf(64, 0, MOST))).toBe(3);
  });

  test('with enough under way they are one: commands do not fall apart into ever smaller ones', () => {
    expect(shareOf(22, 2, MOST)).toBe(22);
    expect(shareOf(22, 9, MOST)).toBe(22);
  });

  test('no command has more than it may', () => {
    expect(shareOf(5_000, 0, MOST)).toBe(MOST);
  });
});
