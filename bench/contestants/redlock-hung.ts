export { default } from './redlock.ts';
