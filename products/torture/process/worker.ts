/** One process of `holdfast torture`. */
import { connect } from '../../../src/connect/index.ts';
import { work } from './work.ts';

work(({ url, label, renewal }) => connect(url, { label, renewal }));
