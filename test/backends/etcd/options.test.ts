import { describe, expect, test } from 'vitest';
import { versionFindings } from '../../../src/backends/etcd/check.ts';
import { type EtcdOptions, etcd } from '../../../src/backends/etcd/index.ts';
import { urlsOf } from '../../../src/backends/etcd/options.ts';

describe('options of etcd', () => {
  test.each<[string, unknown]>([
    ['no endpoint', { endpoints: [] }],
    ['an endpoint that is none', { endpoints: 'http://' }],
    ['another scheme', { endpoints: 'redis://vault' }],
    ['several endpoints in one', { endpoints: 'vault,hush' }],
    ['a path', { endpoints: 'http://vault:2379/v3' }],
    ['secrets in the address', { endpoints: 'http://root:hush@vault:2379' }],
    ['a user without a password', { endpoints: '10.0.0.1', user: 'locks' }],
    ['a user and a password that are no text', { endpoints: '10.0.0.1', user: null, password: null }],
    ['a prefix with a slash', { endpoints: '10.0.0.1', prefix: 'a/b' }],
    ['no time at all', { endpoints: '10.0.0.1', timeout: 0 }],
    ['an unknown option', { endpoints: '10.0.0.1', retries: 3 }],
    ['no endpoints at all', {}],
    ['an endpoint that is no text', { endpoints: ['10.0.0.1', 2379] }],
    ['an unknown option of TLS', { endpoints: '10.0.0.1', tls: { rejectUnauthorised: true } }],
    ['an address in the clear beside TLS', { endpoints: 'http://vault:2379', tls: {} }],
  ])('%s is invalid, and not shown', (_, options) => {
    const refusal = expect.objectContaining({ code: 'LOCK_INVALID', message: expect.not.stringMatching(/hush|vault/) });
    expect(() => etcd(options as EtcdOptions)).toThrow(refusal);
  });

  test('an endpoint needs neither scheme nor port', () => {
    const urls = ({ endpoints, tls }: EtcdOptions): string[] => urlsOf(endpoints, tls !== undefined).map(String);
    expect(urls({ endpoints: '10.0.0.1' })).toEqual(['http://10.0.0.1:2379/']);
    expect(urls({ endpoints: ['a:1', 'https://b:2'] })).toEqual(['http://a:1/', 'https://b:2/']);
    expect(urls({ endpoints: 'a:80' })).toEqual(['http://a/']);
    expect(urls({ endpoints: 'a', tls: {} })).toEqual(['https://a:2379/']);
    expect(urls({ endpoints: ['a:80/', 'https://b:443/'] })).toEqual(['http://a/', 'https://b/']);
  });
});

describe('the versions that are warned of', () => {
  const codes = (version: string): string[] => versionFindings(version).map(({ code }) => code);

  test('before 3.4 nothing works', () => expect(codes('3.3.27')).toEqual(['version']));
  test('each defect is named until the patch that ends it', () => {
    expect(codes('3.4.23')).toHaveLength(4);
    expect(codes('3.4.31')).toHaveLength(3);
    expect(codes('3.5.2')).toHaveLength(5);
    expect(codes('3.5.27')).toHaveLength(1);
    expect(codes('3.6.4')).toHaveLength(2);
  });
  test.each(['3.4.42', '3.5.28', '3.6.9', '3.7.0', '4.0.0'])('%s has none of them', (version) => {
    expect(codes(version)).toEqual([]);
  });
});
