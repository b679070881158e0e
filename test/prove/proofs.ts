/** The proofs that run by themselves, with their own flags: `npm run prove -- torture --help`. */
export const PROOFS: Readonly<Record<string, string>> = {
  torture: 'test/torture/everywhere.ts',
  'torture:hosts': 'test/hosts/main.ts',
  'torture:memo': 'test/memo/faults/main.ts',
  'torture:peers': 'test/rivals/main.ts',
  'torture:owner': 'test/torture/owner/main.ts',
  mutants: 'test/mutation/main.ts',
  matrix: 'test/matrix/main.ts',
  peers: 'test/backends/redis-plain/peers/main.ts',
  'peers:redisson': 'test/backends/redisson/main.ts',
  'known-bugs': 'test/known-bugs/write.ts',
  picture: 'examples/page/picture/main.ts',
};
