export { type NatsEntry, type NatsHearing, type NatsKv, type NatsOptions, type NatsStatus, nats } from './backend.ts';
