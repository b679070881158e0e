export { type NatsOptions, nats } from './backend.ts';
export type { NatsEntry, NatsHearing, NatsKv, NatsStatus } from './client.ts';
