import { expect, test } from 'vitest';
import { parseServers, rotation } from '../../../../src/backends/zookeeper/wire/open.ts';

test('servers are hosts with or without a port', () => {
  expect(parseServers('a:1, b ,[::1]:3,10.0.0.1')).toEqual([
    { host: 'a', port: 1 },
    { host: 'b', port: 2181 },
    { host: '::1', port: 3 },
    { host: '10.0.0.1', port: 2181 },
  ]);
});

test.for([
  undefined,
  7,
  '',
  'a,',
  'a:0',
  'a:65536',
  'a:b',
  'a:1/chroot',
  'user:secret@a:1',
  'a b',
])('%s is refused without being shown', (text) => {
  const parse = () => parseServers(text);
  expect(parse).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  if (text === 'user:secret@a:1') expect(parse).not.toThrow(/secret/);
});

test('all servers take their turn, in an order that depends on chance', () => {
  const servers = parseServers('a,b,c,d');
  const orders = new Set<string>();
  for (let seed = 0; seed < 24; seed++) {
    let last = seed / 24;
    const next = rotation(servers, () => (last = (last * 7.13 + 0.37) % 1));
    const hosts = Array.from({ length: 8 }, () => next.next().value.host);
    expect(new Set(hosts.slice(0, 4)).size).toBe(4);
    expect(hosts.slice(4)).toEqual(hosts.slice(0, 4));
    orders.add(hosts.join());
  }
  expect(orders.size).toBeGreaterThan(4);
});
